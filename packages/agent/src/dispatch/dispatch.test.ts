import { describe, expect, it } from "vitest";
import { HostKeyMissing } from "../platform/system-errors.ts";
import { dispatching, gate, taskId } from "./testing/dispatching.ts";

const exception = (message: string) => ({ exception: { message } });

describe("the envelope", () => {
  it.each([
    "{",
    "",
    "[]",
    "7",
    '"ping"',
    '{"method":7}',
    '{"method":"ping","protocol":"3"}',
    '{"method":"ping","protocol":1.5}',
    '{"method":"ping","reply_to":{}}',
    '{"method":"ping","__proto__":{}}',
    '{"method":"ping","method":"info"}',
    `{"method":"ping","arguments":${"[".repeat(200)}${"]".repeat(200)}}`,
  ])("that is no request is unreadable: %s", async (body) => {
    const { handler } = await dispatching({ actions: { ping: async () => "pong" } });
    expect(await handler(body, "test")).toEqual({ kind: "unreadable" });
  });

  it("may have its keys in any case and its optional parts missing or null", async () => {
    const { handler } = await dispatching({ actions: { ping: async () => "pong" } });
    for (const body of [
      '{"method":"ping"}',
      '{"Method":"ping","ARGUMENTS":null,"Reply_To":null,"protocol":null}',
      '{"method":"ping","arguments":["more","than","needed"]}',
    ])
      expect(await handler(body, "test")).toEqual({
        kind: "reply",
        reply: { value: "pong" },
        replyTo: undefined,
      });
  });

  it("names where the reply goes", async () => {
    const { handler } = await dispatching({ actions: { ping: async () => "pong" } });
    const handled = await handler('{"method":"ping","reply_to":"director.p.a.r"}', "test");
    expect(handled).toMatchObject({ kind: "reply", replyTo: "director.p.a.r" });
  });
});

describe("a message", () => {
  it.each(["frobnicate", "", "toString", "__proto__", "constructor", "ssh", "get_state"])(
    "that is unknown or not implemented is refused without a prefix: %s",
    async (method) => {
      const { ask } = await dispatching({ actions: {} });
      expect(await ask(method)).toEqual(exception(`unknown message ${method}`));
    },
  );

  it("is unknown without a method", async () => {
    const { handler } = await dispatching({ actions: {} });
    for (const body of ["{}", "null", '{"method":null}'])
      expect(await handler(body, "test")).toMatchObject({ reply: exception("unknown message ") });
  });

  it("is answered with the number of arguments it needs if it has too few", async () => {
    const { ask } = await dispatching({ actions: { ssh: async () => ({}) } });
    expect(await ask("ssh", ["setup"])).toEqual(
      exception(
        "Action Failed ssh: Extracting method arguments from payload: Not enough arguments, expected 2, got 1",
      ),
    );
    expect(await ask("get_task", [])).toEqual(
      exception(
        "Action Failed get_task: Extracting method arguments from payload: Not enough arguments, expected 1, got 0",
      ),
    );
  });

  it("is answered with the place of an argument of the wrong type, not with its value", async () => {
    const { ask } = await dispatching({ actions: { ssh: async () => ({}) } });
    expect(await ask("ssh", ["setup", { user: 7, public_key: "hunter2" }])).toEqual(
      exception(
        "Action Failed ssh: Extracting method arguments from payload: Unmarshalling action argument: params.user: expected string, got a number",
      ),
    );
    expect(await ask("ssh", { user: "x" })).toEqual(
      exception(
        "Action Failed ssh: Extracting json arguments: Unmarshalling payload arguments to interface{} types: expected an array, got an object",
      ),
    );
  });

  it("is answered with its name before the error if it fails at once", async () => {
    const { ask } = await dispatching({
      actions: {
        ssh: async () => {
          throw new Error("Unknown command for SSH method", { cause: new Error("because") });
        },
      },
    });
    expect(await ask("ssh", ["dance", {}])).toEqual(
      exception("Action Failed ssh: Unknown command for SSH method: because"),
    );
  });

  it("gets its arguments by name, with the schema's keys and empty values for null", async () => {
    const seen: unknown[] = [];
    const { ask } = await dispatching({
      actions: {
        ssh: async (args) => {
          seen.push(args);
          return {};
        },
        sync_dns: async (args) => {
          seen.push(args);
          return "synced";
        },
      },
    });
    await ask("ssh", ["setup", { User: "bosh_x", PUBLIC_KEY: "k", other: 1 }, "surplus"]);
    await ask("sync_dns", [null, null, null]);
    expect(seen).toEqual([
      { command: "setup", params: { user: "bosh_x", public_key: "k", other: 1 } },
      { blobId: "", digest: "", version: 0 },
    ]);
  });

  it("is answered with null if it has no result", async () => {
    const { ask } = await dispatching({ actions: { ping: (async () => undefined) as never } });
    expect(await ask("ping")).toEqual({ value: null });
  });

  it("is a task from protocol 3 on where the protocol decides", async () => {
    const { ask, outcome } = await dispatching({ actions: { list_disk: async () => ["disk-1"] } });
    expect(await ask("list_disk", [], { protocol: 0 })).toEqual({ value: ["disk-1"] });
    expect(await ask("list_disk", [], { protocol: 2 })).toEqual({ value: ["disk-1"] });
    expect(await outcome("list_disk", [], { protocol: 3 })).toEqual({ value: ["disk-1"] });
  });

  it("knows its protocol", async () => {
    const { outcome } = await dispatching({
      actions: { migrate_disk: async (_, call) => ({ p: call.protocol }) },
    });
    expect(await outcome("migrate_disk", ["old", "new"], { protocol: 3 })).toEqual({ value: { p: 3 } });
  });

  it("is refused with the cause while the agent waits, but tasks can be asked for", async () => {
    let waitsFor: string | undefined = "waiting for device /dev/sdc (12 s)";
    const { ask } = await dispatching({ actions: { ping: async () => "pong" }, waitingFor: () => waitsFor });
    expect(await ask("ping")).toEqual(exception("restarting agent: waiting for device /dev/sdc (12 s)"));
    expect(await ask("get_task", ["x"])).toEqual(
      exception("Action Failed get_task: Task with id x could not be found"),
    );
    waitsFor = undefined;
    expect(await ask("ping")).toEqual({ value: "pong" });
  });
});

describe("order", () => {
  it("is kept among messages with the same name, and reads wait for nothing", async () => {
    const first = gate();
    const began: string[] = [];
    const { ask } = await dispatching({
      actions: {
        ping: async () => "pong",
        remove_file: async ({ path }) => {
          began.push(path);
          if (path === "a") await first.passed;
          return path;
        },
        ssh: async () => ({}),
      },
    });
    const a = ask("remove_file", ["a"]);
    const b = ask("remove_file", ["b"]);
    expect(await ask("ping")).toEqual({ value: "pong" });
    expect(await ask("ssh", ["setup", {}])).toEqual({ value: {} });
    expect(began).toEqual(["a"]);
    first.open();
    expect(await Promise.all([a, b])).toEqual([{ value: "a" }, { value: "b" }]);
    expect(began).toEqual(["a", "b"]);
  });

  it("tells with a failure what the operator can do", async () => {
    const refused = async () => {
      throw HostKeyMissing({ directory: "/etc/ssh" });
    };
    const { ask } = await dispatching({ actions: { ssh: refused } });
    expect(await ask("ssh", ["setup", { user: "bosh_a", public_key: "k" }])).toEqual(
      exception(
        "Action Failed ssh: there is no ssh server in this VM: /etc/ssh has no host key; next: Use a stemcell with an ssh server in it that starts with the VM; ssh-keygen -A makes its keys.",
      ),
    );
  });

  it("survives a failure in the lane", async () => {
    const { ask } = await dispatching({
      actions: {
        remove_file: async ({ path }) => {
          if (path === "a") throw new Error("no");
          return path;
        },
      },
    });
    expect(await Promise.all([ask("remove_file", ["a"]), ask("remove_file", ["b"])])).toEqual([
      exception("Action Failed remove_file: no"),
      { value: "b" },
    ]);
  });
});

describe("secrets", () => {
  const pem = `-----BEGIN PRIVATE KEY-----\n${"A".repeat(20)}c4n4ry\n-----END PRIVATE KEY-----\n`;
  const settings = {
    mbus: { Cert: { Private_Key: pem }, urls: ["nats://agent:c4n4ry-password@10.0.0.1:4222"] },
  };

  it("in arguments are in no answer, no task result and no log line", async () => {
    const actions = {
      update_settings: async () => {
        throw new Error(`cannot use ${pem} (line ${"A".repeat(20)}c4n4ry) at c4n4ry-password`, {
          cause: new Error(JSON.stringify(settings)),
        });
      },
    };
    const { outcome, lines } = await dispatching({ actions });
    const reply = JSON.stringify(await outcome("update_settings", [settings]));
    expect(reply).toContain("cannot use <redacted>");
    expect(reply + lines.join("\n")).not.toContain("c4n4ry");
  });

  it("are not logged when a message is unknown or refused", async () => {
    const { ask, lines } = await dispatching({ actions: { upload_blob: async () => "id" } });
    await ask("upload\n_blob2", [{ payload: "c4n4ry" }]);
    taskId(await ask("upload_blob", [{ blob_id: "b", checksum: "c", payload: 7, other: "c4n4ry" }]));
    expect(lines.join("")).not.toMatch(/c4n4ry|\n/);
  });
});
