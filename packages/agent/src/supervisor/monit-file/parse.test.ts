import { EVEN_GROWTH, growth } from "@slipway/testkit/growth";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MonitFileInvalid } from "../errors.ts";
import type { Service } from "./model.ts";
import { parseMonitFile } from "./parse.ts";

const only = (text: string): Service => {
  const { services } = parseMonitFile(text, "web");
  expect(services).toHaveLength(1);
  return services[0] as Service;
};

/** Returns the error for a text, with its line, or "taken". */
function refused(text: string): string {
  try {
    parseMonitFile(text, "web");
  } catch (error) {
    if (MonitFileInvalid.is(error)) return error.message;
    throw error;
  }
  return "taken";
}

describe("a monit file", () => {
  it("is read as a whole", () => {
    const service = only(`
      # comment "with quotes
      check process web with pidfile /var/vcap/sys/run/web/web.pid
        start program "/var/vcap/jobs/web/bin/ctl start 'two words'" as uid vcap and gid vcap with timeout 60 seconds
        stop program = "/var/vcap/jobs/web/bin/ctl stop"
        group vcap
        depends on db, cache,
          queue
        if failed host 127.0.0.1 port 8080 protocol http
          and request "/healthz" with timeout 20 seconds for 10 cycles
          then restart
        if totalmem > 500 Mb for 2 cycles then alert
        if totalmem > 80% for 15 cycles then exec "/bin/drain now"
        mode manual every 2 cycles`);
    expect(service).toMatchObject({
      kind: "process",
      name: "web",
      line: 3,
      target: { by: "pidfile", path: "/var/vcap/sys/run/web/web.pid" },
      start: {
        argv: ["/var/vcap/jobs/web/bin/ctl", "start", "two words"],
        uid: "vcap",
        gid: "vcap",
        timeoutSeconds: 60,
      },
      stop: { argv: ["/var/vcap/jobs/web/bin/ctl", "stop"], timeoutSeconds: 30 },
      groups: ["vcap"],
      mode: "manual",
      everyCycles: 2,
    });
    expect(service.dependsOn.map((one) => one.name)).toEqual(["db", "cache", "queue"]);
    expect(service.rules).toMatchObject([
      {
        line: 9,
        test: {
          on: "connection",
          connection: {
            host: "127.0.0.1",
            port: 8080,
            protocol: "http",
            request: "/healthz",
            timeoutSeconds: 20,
          },
        },
        rate: { count: 10, cycles: 10 },
        action: { do: "restart" },
      },
      {
        test: {
          on: "resource",
          limits: [{ resource: "totalmem", operator: ">", limit: { value: 512_000, unit: "kb" } }],
        },
        rate: { count: 2, cycles: 2 },
        action: { do: "alert" },
      },
      {
        test: { limits: [{ limit: { value: 80, unit: "percent" } }] },
        action: { do: "exec", program: { argv: ["/bin/drain", "now"] } },
      },
    ]);
  });

  it.each([
    ["process", "check process x matching 'a.*b'", { by: "matching", pattern: "a.*b" }],
    ["process", "check x path /x.pid", { by: "pidfile", path: "/x.pid" }],
    ["file", "check file with with path /etc/hosts", { by: "path", path: "/etc/hosts" }],
    ["filesystem", "check device data with path /var/vcap/data", { by: "path", path: "/var/vcap/data" }],
    ["directory", "CHECK DIRECTORY d PATH /d", { by: "path", path: "/d" }],
    ["host", "check host h address localhost", { by: "address", address: "localhost" }],
    ["system", "check system box", { by: "nothing" }],
    ["fifo", "check fifo f path /f", { by: "path", path: "/f" }],
    ["network", "check network n with interface eth0", { by: "address", address: "eth0" }],
    [
      "program",
      'check program p with path "/bin/test -e /x"',
      { by: "command", program: { argv: ["/bin/test", "-e", "/x"], timeoutSeconds: 30 } },
    ],
  ])("may check a %s: %s", (kind, text, target) => {
    expect(only(text)).toMatchObject({ kind, target });
  });

  it.each([
    ["loadavg(5min) > 4", { limits: [{ resource: "loadavg5", limit: { value: 4, unit: "number" } }] }],
    ["cpu usage (wait) > 20%", { limits: [{ resource: "cpuwait" }] }],
    ["memory usage > 75% for 3 times within 5 cycles", { limits: [{ resource: "mem" }] }],
    ["swap > 2.5 GB", { limits: [{ resource: "swap", limit: { value: 2.5 * 1024 ** 2, unit: "kb" } }] }],
  ])("may test a system for %s", (test, expected) => {
    const [rule] = only(`check system s if ${test} then alert`).rules;
    expect(rule?.test).toMatchObject({ on: "resource", ...expected });
  });

  it.each([
    ["file f path /f", "changed timestamp", { on: "changed", what: "timestamp" }],
    ["file f path /f", "timestamp > 15 minutes", { on: "timestamp", operator: ">", seconds: 900 }],
    ["file f path /f", "size > 2 GB", { on: "size", bytes: 2 * 1024 ** 3 }],
    ["file f path /f", "failed permission 0644", { on: "permission", mode: 0o644 }],
    ["file f path /f", "failed uid root", { on: "uid", id: "root" }],
    ["file f path /f", "failed sha1 checksum expect abc", { on: "checksum", expected: "abc" }],
    ["file f path /f", 'not match "ok"', { on: "match", not: true, pattern: "ok" }],
    [
      "filesystem f path /f",
      "SPACE usage > 80%",
      { on: "space", free: false, limit: { value: 80, unit: "percent" } },
    ],
    ["filesystem f path /f", "inode usage > 90%", { on: "inode" }],
    ["process p pidfile /p", "changed pid", { on: "changed", what: "pid" }],
    ["process p pidfile /p", "3 restarts within 5 cycles", { on: "restarts", count: 3, cycles: 5 }],
    ["process p pidfile /p", "does not exist", { on: "existence", exists: false }],
    ["process p pidfile /p", "failed existence", { on: "existence", exists: false }],
    ["process p pidfile /p", "failed unixsocket /s with timeout 5 seconds", { on: "connection" }],
    ["process p pidfile /p", 'failed port 6379 send "PING\\r\\n" expect "PONG"', { on: "connection" }],
    ["program p path /p", "status != 0", { on: "status", operator: "!=", code: 0 }],
  ])("may check a %s with `if %s`", (check, test, expected) => {
    expect(only(`check ${check} if ${test} then alert`).rules[0]?.test).toMatchObject(expected);
  });

  it.each([
    ["set daemon 10 with start delay 30\nset httpd port 2822 and allow x:y", ['"set daemon"', '"set httpd"']],
    [
      "check process p pidfile /p if failed port 3306 protocol mysql then alert",
      ["the protocol mysql is not spoken"],
    ],
    ["check process p pidfile /p if failed icmp type echo count 3 then alert", ["icmp type echo"]],
    [
      "check process p pidfile /p alert a@b.c { nonexist, timeout } with mail-format { subject: a'b }",
      ["alerts go to"],
    ],
    ['check process p pidfile /p every "* 8-19 * * 1-5"', ["crontab"]],
    ['check process p pidfile /p restart program "/r"', ["restart program"]],
  ])("is taken with a warning: %s", (text, expected) => {
    const { warnings } = parseMonitFile(text, "web");
    expect(warnings.map(({ text: said }, at) => said.includes(expected[at] ?? "?"))).toEqual(
      expected.map(() => true),
    );
    expect(warnings.every(({ line }) => line > 0)).toBe(true);
  });

  it.each([
    ["Monit conf goes here", 'line 1: "Monit" does not begin a statement'],
    ["check process p\n group vcap", "line 2: check process p needs a pidfile"],
    ["check process p pidfile p.pid", "line 1: the pidfile must be an absolute path"],
    [
      'check process p pidfile /p\n\nstart program "ctl start"',
      "line 3: the start program must be an absolute path",
    ],
    ["check process p pidfile /p start program", "line 1: the start program is missing"],
    ['check process p pidfile /p start program "/x', "line 1: unbalanced quotes"],
    ["check process p pidfile /p\n if teapot then alert", 'line 2: the test "teapot" is not known'],
    ["check process p pidfile /p if totalmem > 5 mb restart", "line 1: `then` is missing"],
    ["check process p pidfile /p if totalmem >> 5 mb then alert", 'the operator ">>" is not known'],
    ["check process p pidfile /p if totalmem > 5 mb then explode", '"explode" is not an action'],
    ["check process p pidfile /p if cpu > 5% for 99 cycles then alert", "between 1 and 64"],
    [
      "check process p pidfile /p if failed port 80 protocol gopher then alert",
      'the protocol "gopher" is not known',
    ],
    ["check process p pidfile /p if failed then alert", "needs a port or a unix socket"],
    ["check process p matching '(('", "is no regular expression"],
    ["check process p pidfile /p depends on a b", '"b" is not known in a check of a process'],
    ['{"processes": []}', "the JSON of a Windows job"],
  ])("is refused with its line: %s", (text, why) => {
    expect(refused(text)).toContain(why);
  });

  it("is accepted or refused for any bytes, and never crashes the parser", () => {
    const words = [
      ..."check process file p pidfile /p if failed port 80 then alert start stop program restart depends on , group".split(
        " ",
      ),
      ...[
        '"/x y"',
        "'",
        '"',
        "{",
        "}",
        "#",
        "\n",
        "totalmem",
        ">",
        "5",
        "mb",
        "%",
        "cycles",
        "set",
        "include",
        "every",
        "not",
      ],
      ...[
        "match",
        "else",
        "timeout",
        "__proto__",
        "constructor",
        "changed",
        "protocol",
        "exec",
        "\\",
        "uid",
        "mode",
      ],
    ];
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: "binary" }),
          fc.array(fc.constantFrom(...words), { maxLength: 40 }).map((some) => some.join(" ")),
        ),
        (text) => {
          expect(typeof refused(text)).toBe("string");
          expect(typeof refused(`check process p pidfile /p ${text}`)).toBe("string");
        },
      ),
      { numRuns: tries(3000) },
    );
  });

  it.each([
    ["services", "check process p pidfile /p start program '/x' if cpu > 5% then alert\n"],
    ["quotes", "'a'"],
    ["comments", "# x\n"],
    ["percents", "5%5%"],
    ["digits", "1"],
    ["braces", "{}"],
  ])("takes time in proportion to its size with many %s", async (_, piece) => {
    const work = (size: number) => {
      refused(piece.repeat(size * 5000));
      refused(`check process p pidfile /p alert ${piece.repeat(size * 5000)}`);
    };
    expect(await growth(work)).toBeLessThan(EVEN_GROWTH);
  });
});
