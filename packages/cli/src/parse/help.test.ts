import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../commands.ts";
import { runCli } from "../testing/run-cli.ts";
import { parse } from "./parse.ts";

/** Splits a line as a shell does: words and quotes, without a redirection after `>`. */
function words(typed: string): readonly string[] {
  const [command = ""] = typed.split(" > ");
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

const EXAMPLES = COMMANDS.flatMap(({ name, examples = [] }) =>
  examples.map(([typed]) => [typed, name] as const),
);

describe("the examples of --help", () => {
  it.each(EXAMPLES)("%s", (typed, name) => {
    const [first = "", ...rest] = words(typed).filter((word) => !/^[A-Z_]+=/.test(word));
    expect(first).toBe("slipway");
    const io = { env: {}, columns: undefined, write: () => undefined };
    const parsed = parse(rest, COMMANDS, "0.0.0", io);
    expect(parsed.kind === "run" && parsed.command.name).toBe(name);
  });

  it("are there for every command that takes an argument or an option", () => {
    const without = COMMANDS.filter(
      ({ arguments: takes = [], options = [], examples = [] }) =>
        takes.length + options.length > 0 && examples.length === 0,
    );
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it("are printed under the options", async () => {
    const { out, code } = await runCli(["deploy", "--help"]);
    expect(code).toBe(0);
    expect(out).toMatch(/Options:[\s\S]*Examples:\n {2}slipway -d shop deploy shop\.yml +# shows/);
  });
});

describe("what was typed wrong ends with 2 and says what was meant", () => {
  // Some commands make one before they look at all that was typed.
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    directory = await temporaryDirectory();
  });
  afterAll(() => directory.remove());

  it.each([
    [["deplyo"], "did you mean 'deploy'"],
    [["stemcell", "bild"], "did you mean 'stemcell build'"],
    [["deploy", "--recraete", "x.yml"], "did you mean '--recreate'"],
    [["instances", "--detials"], "`slipway instances --help` shows what it takes"],
    [["instances", "--colum", "x"], "did you mean '--column'"],
    [["task", "twelve"], "`slipway task --help` shows what it takes"],
    [["up", "--port", "many"], "--port"],
    [["up", "--cpi", "vmware"], "--cpi takes"],
    [["recreate"], "none was named"],
    [["-d", "x", "ignore", "db"], "group/id or group/index"],
    [["curl", "info"], "begins with /"],
    [["curl", "-X", "BREW", "/pot"], "GET, POST"],
    [["update-resurrection", "maybe"], "on or off"],
    [["interpolate", "/no/such.yml"], "/no/such.yml"],
    [["upload-stemcell", "/no/such.tgz"], "/no/such.tgz"],
    [["config", "--type", "cloud"], "--type and --name"],
    [["demo", "--range", "everything"], "--range takes"],
    [["up", "--config", "/no/such.json"], "/no/such.json"],
    [["--ca-cert", "/no/such.pem", "deployments"], "/no/such.pem"],
    [["-d", "x", "deploy", "/no/such.yml"], "/no/such.yml"],
    [["-d", "x", "deploy", "-l", "/no/vars.yml", "/dev/null"], "/no/vars.yml"],
    [["-d", "x", "deploy", "-o", "/no/ops.yml", "/dev/null"], "/no/ops.yml"],
    [["create-env", "/no/such.yml"], "/no/such.yml"],
    [["upload-release", "/no/such.tgz"], "/no/such.tgz"],
    [["update-cloud-config", "/no/such.yml"], "/no/such.yml"],
    [["stemcell", "inspect", "/no/such.tgz"], "/no/such.tgz"],
    [
      ["stemcell", "build", "--for", "local", "--from-root", "/no/such", "--out", "/tmp/never.tgz"],
      "/no/such",
    ],
    [
      ["stemcell", "build", "--for", "docker", "--from-image", "thing:1", "--out", "/tmp/never.tgz"],
      "digest",
    ],
    [["explain", "--task", "none"], "the number of a task"],
    [["events", "--task", "none"], "the number of a task"],
    [["tasks", "--recent=few"], "'few' is not"],
    [["completion", "tcsh"], "bash, zsh, fish"],
  ])("slipway %j", async (argv, says) => {
    const { code, err, out } = await runCli(argv, {
      home: join(directory.path, "home"),
      env: { BOSH_ENVIRONMENT: "https://127.0.0.1:1", BOSH_CLIENT: "x", BOSH_CLIENT_SECRET: "y" },
    });
    expect(err).toContain(says);
    expect({ code, out }).toEqual({ code: 2, out: expect.not.stringContaining("Succeeded") });
    // Once, with at most one line about what to do.
    expect(err.match(/^[A-Z]{3}-\d{3} /gm)).toHaveLength(1);
    expect(err.match(/next:/g)?.length ?? 0).toBeLessThanOrEqual(1);
  });
});
