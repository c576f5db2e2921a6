import { nearNames } from "@slipway/protocol/near-names";
import { describe, expect, it } from "vitest";
import type { Command } from "../command.ts";
import { COMMANDS } from "../commands.ts";
import { parse } from "./parse.ts";

const run = async () => 0;
const commands: readonly Command[] = [
  {
    name: "deploy",
    aliases: ["d"],
    summary: "make it so",
    topic: "deployments",
    arguments: [{ name: "<manifest>", about: "a path" }],
    options: [
      { flags: "-v, --var <pair>", about: "a variable", repeats: true },
      { flags: "--no-redact", about: "show all" },
      { flags: "--skip-drain", about: "in a hurry" },
      { flags: "-r, --recent [number]", about: "some" },
      { flags: "--version <version>", about: "of something" },
    ],
    run,
  },
  { name: "up", summary: "begin", topic: "this machine", run },
  { name: "logs", summary: "words", topic: "inspect", arguments: [{ name: "[slug...]", about: "" }], run },
  { name: "stemcell build", summary: "build it", topic: "documents", aliases: ["bake"], run },
  { name: "stemcell inspect", summary: "look", topic: "documents", run },
];

function parsed(argv: readonly string[], env: Record<string, string> = {}) {
  const written: string[] = [];
  const io = { env, columns: 100, write: (text: string) => void written.push(text) };
  return { found: parse(argv, commands, "1.2.3", io), written: written.join("") };
}

function found(argv: readonly string[], env: Record<string, string> = {}) {
  const { found: result } = parsed(argv, env);
  if (result.kind !== "run") throw new Error("nothing to run");
  return result;
}

describe("the words of a command line", () => {
  it("are arguments, options and switches of the command", () => {
    const { command, given } = found(["d", "m.yml", "-v", "a=1", "--var=b=2", "--no-redact", "--skip-drain"]);
    expect(command.name).toBe("deploy");
    expect(given.argument(0)).toBe("m.yml");
    expect(given.argument(1)).toBeUndefined();
    expect(given.texts("var")).toEqual(["a=1", "b=2"]);
    expect(given.text("var")).toBe("b=2");
    expect([given.flag("no-redact"), given.flag("skip-drain"), given.flag("recent")]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("keep their default silence when they are not there", () => {
    const { given } = found(["deploy", "m.yml"]);
    expect([given.flag("no-redact"), given.flag("skip-drain")]).toEqual([false, false]);
    expect([given.texts("var"), given.text("recent")]).toEqual([[], undefined]);
  });

  it.each([
    [["deploy", "m.yml", "-v=a=1"], ["a=1"]],
    [["deploy", "m.yml", "-va=1"], ["a=1"]],
    [["deploy", "m.yml", "--var", "a=-1"], ["a=-1"]],
  ])("%j is how Go's flags take a value too", (argv, values) => {
    expect(found(argv).given.texts("var")).toEqual(values);
  });

  it("may have an option with a value or without", () => {
    expect(found(["deploy", "m.yml", "--recent"]).given.flag("recent")).toBe(true);
    expect(found(["deploy", "m.yml", "--recent=5"]).given.text("recent")).toBe("5");
  });

  it("may be as many arguments as there are", () => {
    expect(found(["logs", "a", "b", "c"]).given.argumentsFrom(1)).toEqual(["b", "c"]);
  });

  it("may name a command of two words, or its other name", () => {
    expect(found(["stemcell", "build"]).command.name).toBe("stemcell build");
    expect(found(["--json", "stemcell", "inspect"]).command.name).toBe("stemcell inspect");
    expect(found(["bake"]).command.name).toBe("stemcell build");
  });
});

describe("options of all commands", () => {
  it.each([
    [["-e", "https://x", "-d", "shop", "up", "-n"]],
    [["up", "--environment=https://x", "--deployment", "shop", "--non-interactive"]],
    [["-n", "up", "-e=https://x", "-d=shop"]],
  ])("stand before or after it: %j", (argv) => {
    const { globals, given } = found(argv);
    expect(globals).toMatchObject({ environment: "https://x", deployment: "shop", nonInteractive: true });
    expect(given.text("deployment")).toBe("shop");
  });

  it("after it win over those before it, and both over the environment", () => {
    const env = { BOSH_DEPLOYMENT: "three", BOSH_CLIENT: "me", BOSH_ENVIRONMENT: "" };
    expect(found(["-d", "one", "up", "-d", "two"], env).globals.deployment).toBe("two");
    expect(found(["-d", "one", "up"], env).globals.deployment).toBe("one");
    expect(found(["up"], env).globals).toMatchObject({
      deployment: "three",
      client: "me",
      environment: undefined,
    });
  });

  it("give way to the command's own meaning of them", () => {
    const { given } = found(["deploy", "m.yml", "-v", "x=1", "--version", "7"]);
    expect([given.texts("var"), given.text("version")]).toEqual([["x=1"], "7"]);
  });

  it.each([
    [{ NO_COLOR: "1" }, { color: false }],
    [{ NO_COLOR: "" }, { color: true }],
    [{ BOSH_NON_INTERACTIVE: "true" }, { nonInteractive: true }],
    [{ BOSH_NON_INTERACTIVE: "false" }, { nonInteractive: false }],
    [{ BOSH_TTY: "1" }, { tty: true }],
  ])("from the environment: %j", (env, globals) => {
    expect(found(["up"], env).globals).toMatchObject(globals);
  });
});

describe("a mistake", () => {
  it.each([
    [["deplyo"], "there is no command 'deplyo'; did you mean 'deploy'?"],
    [["-d", "up", "dow"], "there is no command 'dow'"],
    [["stemcell", "bild"], "there is no command 'stemcell bild'; did you mean 'stemcell build'?"],
    [["deploy"], "slipway deploy: missing required argument 'manifest'"],
    [["up", "--nope"], "slipway up: unknown option '--nope'"],
    [["up", "more"], "slipway up: too many arguments"],
    [["deploy", "m", "--var"], "slipway deploy: option '-v, --var <pair>' argument missing"],
  ])("%j is named", (argv, message) => {
    expect(() => parsed(argv)).toThrow(message);
  });
});

describe("help", () => {
  it("lists the commands by topic, this machine first", () => {
    const { found: result, written } = parsed(["--help"]);
    expect(result).toEqual({ kind: "said", code: 0 });
    const at = ["This machine:", "up", "Deployments:", "deploy, d <manifest>", "Inspect:", "Documents:"].map(
      (text) => written.indexOf(text),
    );
    expect(at).toEqual([...at].sort((a, b) => a - b));
    expect(at).not.toContain(-1);
  });

  it("without a command is a mistake all the same", () => {
    const { found: result, written } = parsed([]);
    expect(result).toEqual({ kind: "said", code: 2 });
    expect(written).toContain("Usage: slipway");
  });

  it.each([[["deploy", "--help"]], [["help", "deploy"]]])("shows the options of a command: %j", (argv) => {
    const { written } = parsed(argv);
    expect(written).toContain("--skip-drain");
    expect(written).not.toContain("--ca-cert");
  });

  it("has the version", () => {
    expect(parsed(["--version"]).written).toBe("1.2.3\n");
  });
});

describe("the table of commands", () => {
  it("has no name twice", () => {
    const names = COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect([...new Set(names)]).toEqual(names);
  });

  it("begins with what brings a cloud up, topic by topic", () => {
    const names = (topic: string) => COMMANDS.filter((one) => one.topic === topic).map(({ name }) => name);
    expect(names("this machine").slice(0, 4)).toEqual(["demo", "up", "status", "down"]);
    expect(names("deployments").slice(0, 2)).toEqual(["deploy", "deployments"]);
    const topics = COMMANDS.map(({ topic }) => topic);
    expect(topics.filter((topic, at) => topic !== topics[at - 1])).toEqual([...new Set(topics)]);
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    "can be parsed: %s",
    (name, command) => {
      const written: string[] = [];
      const io = { env: {}, columns: 100, write: (text: string) => void written.push(text) };
      expect(parse([...name.split(" "), "--help"], COMMANDS, "1", io)).toEqual({ kind: "said", code: 0 });
      for (const { flags } of command.options ?? [])
        expect(written.join("")).toContain(/--[\w-]+/.exec(flags)?.[0] ?? "?");
    },
  );
});

it("the nearest names come first, and nothing that is far", () => {
  expect(nearNames("evnt", ["events", "event", "env"])).toEqual(["event"]);
  expect(nearNames("xyzzy", ["deploy"])).toEqual([]);
});
