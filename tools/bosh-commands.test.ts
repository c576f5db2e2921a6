import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it } from "vitest";
import { BOSH_COMMANDS, WHY_UNTRIED } from "./bosh-commands.mjs";
import { listedCommands, listedFlags } from "./bosh-help.mjs";
import { recorded, recorder } from "./bosh-recorder.mjs";
import { type Claimed, flagsRun, parsedRun, type Run, unclaimed, unheld } from "./bosh-runs.mjs";

const story = (name: string) => readFileSync(`packages/cli/src/bosh-cli/${name}.test.ts`, "utf8");
const claimed = JSON.parse(readFileSync("tools/bosh-flags.json", "utf8")) as Claimed;

describe("docs/bosh-commands.md", () => {
  it.each(BOSH_COMMANDS)("$name is in the story that is named", ({ name, story: file, test }) => {
    const text = story(file);
    expect(text).toMatch(new RegExp(`"${name}"|\\.instances\\(|\\.deploy\\(`));
    if (test !== undefined) expect(text).toContain(`it("${test}"`);
  });

  it.each(BOSH_COMMANDS.filter(({ verdict }) => verdict !== "works"))("$name: how is said", ({ what }) => {
    expect(what).not.toBe("");
  });

  it("has the flags of every command, and reasons only for flags that no story runs", () => {
    expect(Object.keys(claimed).sort()).toEqual(BOSH_COMMANDS.map(({ name }) => name));
    const without = Object.values(claimed).flatMap((flags) =>
      Object.keys(flags).filter((flag) => flags[flag] === null),
    );
    for (const { flags } of WHY_UNTRIED) for (const flag of flags) expect(without).toContain(flag);
  });
});

const HELP = {
  globals: [
    { name: "deployment", short: "d", takes: true },
    { name: "json", takes: false },
    { name: "version", short: "v", takes: false },
  ],
  commands: [
    {
      name: "deploy",
      aliases: ["d"],
      flags: [
        { name: "var", short: "v", takes: true },
        { name: "recreate", takes: false },
        { name: "skip-drain", takes: false },
      ],
    },
    { name: "pcap", aliases: [], flags: [] },
    { name: "vms", aliases: [], flags: [] },
  ],
};
const ROWS = [
  { name: "deploy", story: "deploy", verdict: "works" },
  { name: "pcap", story: "commands", verdict: "refused", says: "no tcpdump" },
  { name: "vms", story: "like", verdict: "differs", test: "vms are sorted" },
];
const RUNS: readonly Run[] = [
  { command: "deploy", flags: ["recreate"], code: 0, story: "deploy", test: "deploys" },
  { command: "pcap", flags: [], code: 1, story: "commands", test: "captures nothing" },
  { command: "vms", flags: [], code: 0, story: "like", test: "vms are sorted" },
];
const SAID = { deploy: { var: null, recreate: "deploy", "skip-drain": null }, pcap: {}, vms: {} };
const judged = (runs: readonly Run[], more: object = {}) =>
  unheld({ help: HELP, rows: ROWS, claimed: SAID, runs, source: () => "toContain('no tcpdump')", ...more });
const but = (name: string, change: Partial<Run>) =>
  RUNS.map((run) => (run.command === name ? { ...run, ...change } : run));

describe("what the tables say is held to the runs", () => {
  it("nothing is wrong when everything was run", () => expect(judged(RUNS)).toEqual([]));

  it.each<[string, readonly Run[], object, string]>([
    ["a run is missing", RUNS.slice(1), {}, 'deploy "works": deploy has not run it with exit code 0'],
    ["it failed", but("deploy", { code: 1 }), {}, 'deploy "works": deploy has not run it with exit code 0'],
    ["another story ran it", but("deploy", { story: "x" }), {}, 'deploy "works": deploy has not run it'],
    [
      "another test ran it",
      but("vms", { test: "x" }),
      {},
      "the test 'vms are sorted' of like has not run it",
    ],
    ["it was not refused", but("pcap", { code: 0 }), {}, 'pcap "refused": commands has not seen it refused'],
    ["the words are not looked for", RUNS, { source: () => "" }, "commands does not look for 'no tcpdump'"],
    [
      "a flag was not used",
      but("deploy", { flags: [] }),
      {},
      "deploy --recreate: the table says that deploy runs",
    ],
    ["a command has no row", RUNS, { rows: ROWS.slice(1) }, "deploy: it has no row"],
    [
      "a row has no command",
      RUNS,
      { rows: [...ROWS, { ...ROWS[0], name: "x" }] },
      "x: the CLI has no such command",
    ],
    [
      "a flag is not in the table",
      RUNS,
      { claimed: { ...SAID, deploy: { recreate: "deploy" } } },
      "deploy --var: the table",
    ],
    [
      "a flag is not the CLI's",
      RUNS,
      { claimed: { ...SAID, pcap: { x: null } } },
      "pcap --x: the CLI has no such flag",
    ],
  ])("%s: it fails and says so", (_, runs, more, says) => {
    expect(judged(runs, more)).toContainEqual(expect.stringContaining(says));
  });

  it("a flag that is run and not said is only told of", () => {
    const runs = but("deploy", { flags: ["recreate", "skip-drain"] });
    expect(judged(runs)).toEqual([]);
    expect(unclaimed(HELP, runs, SAID)).toEqual(["deploy --skip-drain"]);
    expect(flagsRun(HELP, runs).deploy).toEqual({ var: null, recreate: "deploy", "skip-drain": "deploy" });
  });
});

describe("what was typed", () => {
  it.each([
    [
      ["-d", "shop", "deploy", "m.yml", "-v", "a=b", "--recreate"],
      { command: "deploy", flags: ["recreate", "var"] },
    ],
    [
      ["deploy", "--var=a=b", "--json", "--skip-drain=web"],
      { command: "deploy", flags: ["skip-drain", "var"] },
    ],
    [["d", "-va=b", "vms"], { command: "deploy", flags: ["var"] }],
    [["--deployment", "deploy", "vms"], { command: "vms", flags: [] }],
    [["deploy", "--help"], undefined],
    [["-v"], undefined],
    [["nothing"], undefined],
  ])("%j", (args, run) => expect(parsedRun(args, HELP)).toEqual(run));
});

it("the CLI's help is read: commands, aliases, flags, and no words of descriptions", () => {
  const top = `Application Options:
  -v, --version         Show CLI version
      --config=         Config file path

Available commands:
  deploy     Update deployment   https://bosh.io/docs/cli-v2#deploy (aliases: d)
  vms        List all VMs        https://bosh.io/docs/cli-v2#vms
`;
  expect(listedCommands(top)).toEqual([
    { name: "deploy", aliases: ["d"] },
    { name: "vms", aliases: [] },
  ]);
  expect(listedFlags(top, undefined).map(({ name }) => name)).toEqual(["version", "config"]);
  const help = `[deploy command options]
      -v, --var=VAR=VALUE            Set variable
          --skip-drain=[GROUP]       Skip (used with
                                     --director) drain
          --fix                      Recreate
`;
  expect(listedFlags(help, "deploy")).toEqual([
    { name: "var", short: "v", takes: true },
    { name: "skip-drain", short: undefined, takes: false },
    { name: "fix", short: undefined, takes: false },
  ]);
});

describe("the program in front of the CLI", () => {
  it("is the CLI, and writes down what was typed, how it ended and whose test it was", async () => {
    const { path, remove } = await temporaryDirectory();
    const real = join(path, "real");
    writeFileSync(real, '#!/bin/sh\nread -r line; echo "$line $*"; exit 3\n', { mode: 0o755 });
    const records = join(path, "records");
    const program = recorder(real, records);
    writeFileSync(
      join(records, `test-${process.pid}`),
      `${JSON.stringify({ file: "a.test.ts", test: "b" })}\n`,
    );
    const { status, stdout } = spawnSync(program, ["deploy", "two words\n"], { input: "typed\n", env: {} });
    expect([status, stdout.toString()]).toEqual([3, "typed deploy two words\n\n"]);
    expect(recorded(records)).toEqual([
      { code: 3, file: "a.test.ts", test: "b", args: ["deploy", "two words\n"] },
    ]);
    await remove();
  });
});
