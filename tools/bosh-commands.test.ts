import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it } from "vitest";
import { BOSH_COMMANDS, FLAG_VERDICTS } from "./bosh-commands.mjs";
import { listedCommands, listedFlags } from "./bosh-help.mjs";
import { recorded, recorder } from "./bosh-recorder.mjs";
import { type Claimed, flagsRun, parsedRun, type Run, unheld, unjudged } from "./bosh-runs.mjs";

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

  it("has all flags of every command, each with a story that runs it or a verdict", () => {
    expect(Object.keys(claimed).sort()).toEqual(BOSH_COMMANDS.map(({ name }) => name));
    expect(unjudged(claimed, FLAG_VERDICTS)).toEqual([]);
  });

  it.each(FLAG_VERDICTS)("the verdict on $commands $flags is in the test that is named", (verdict) => {
    expect(story(verdict.story)).toContain(`it("${verdict.test}"`);
    expect([verdict.why, verdict.says]).not.toContain("");
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
        { name: "recreate", takes: false },
        { name: "wait", takes: false },
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
  { command: "deploy", flags: ["recreate"], code: 0, story: "deploy", test: "deploys", said: "" },
  { command: "deploy", flags: ["wait"], code: 130, story: "deploy", test: "waits", said: "still there" },
  {
    command: "pcap",
    flags: [],
    code: 1,
    story: "commands",
    test: "captures nothing",
    said: "there is no tcpdump",
  },
  { command: "vms", flags: [], code: 0, story: "like", test: "vms are sorted", said: "" },
];
const SAID: Claimed = { deploy: { recreate: "deploy", wait: null }, pcap: {}, vms: {} };
const VERDICT = {
  commands: ["deploy"],
  flags: ["wait"],
  why: "never ends",
  story: "deploy",
  test: "waits",
  says: "still there",
};
const judged = (runs: readonly Run[], more: object = {}) =>
  unheld({ help: HELP, rows: ROWS, claimed: SAID, verdicts: [VERDICT], runs, ...more });
const but = (name: string, change: Partial<Run>) =>
  RUNS.map((run) => (run.command === name ? { ...run, ...change } : run));

describe("what the tables say is held to the runs", () => {
  it("nothing is wrong when everything was run", () => expect(judged(RUNS)).toEqual([]));

  it.each<[string, readonly Run[], object, string]>([
    [
      "a run is missing",
      RUNS.filter(({ code }) => code !== 0),
      {},
      'deploy "works": deploy has not run it with exit code 0',
    ],
    ["it failed", but("deploy", { code: 1 }), {}, 'deploy "works": deploy has not run it with exit code 0'],
    ["another story ran it", but("deploy", { story: "x" }), {}, 'deploy "works": deploy has not run it'],
    [
      "another test ran it",
      but("vms", { test: "x" }),
      {},
      "the test 'vms are sorted' of like has not run it",
    ],
    ["it was not refused", but("pcap", { code: 0 }), {}, 'pcap "refused": commands has not seen it refused'],
    ["it was refused otherwise", but("pcap", { said: "no VM" }), {}, "it refused with 'no tcpdump'"],
    ["a flag was not used", but("deploy", { flags: [] }), {}, "says that deploy runs it, and nobody has"],
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
      "deploy --wait: the table does not have it",
    ],
    [
      "a flag is not the CLI's",
      RUNS,
      { claimed: { ...SAID, pcap: { x: null } } },
      "pcap --x: the CLI has no such flag",
    ],
    [
      "a flag is run and not said to be",
      RUNS,
      { claimed: { ...SAID, deploy: { recreate: null, wait: null } } },
      "deploy --recreate: the table says that nobody runs it, and deploy does",
    ],
    [
      "a flag has neither a run nor a verdict",
      RUNS,
      { verdicts: [] },
      "deploy --wait: no story runs it, and it has no verdict",
    ],
    [
      "a flag has both",
      RUNS,
      { verdicts: [{ ...VERDICT, flags: ["wait", "recreate"] }] },
      "deploy --recreate: deploy runs it, and it has a verdict why none does",
    ],
    [
      "a verdict is on no flag",
      RUNS,
      { verdicts: [VERDICT, { ...VERDICT, commands: ["vms"] }] },
      "vms --wait: it has a verdict, and the table does not have it",
    ],
    [
      "a verdict's test has not tried",
      RUNS.filter(({ test }) => test !== "waits"),
      {},
      "deploy --wait: the test 'waits' of deploy has not seen it fail with 'still there'",
    ],
    [
      "a verdict's words were not said",
      RUNS.map((run) => ({ ...run, said: run.said.replace("still", "not") })),
      {},
      "deploy --wait: the test 'waits' of deploy has not seen it fail with 'still there'",
    ],
  ])("%s: it fails and says so", (_, runs, more, says) => {
    expect(judged(runs, more)).toContainEqual(expect.stringContaining(says));
  });

  it("what is written down is what was run", () => {
    expect(flagsRun(HELP, RUNS)).toEqual(SAID);
  });
});

const TYPED = {
  ...HELP,
  commands: HELP.commands.map((command) =>
    command.name === "deploy"
      ? {
          ...command,
          flags: [
            { name: "var", short: "v", takes: true },
            { name: "skip-drain", takes: false },
            ...command.flags,
          ],
        }
      : command,
  ),
};

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
  ])("%j", (args, run) => expect(parsedRun(args, TYPED)).toEqual(run));
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
  it("is the CLI, and writes down what was typed, how it ended, with which words, and whose test it was", async () => {
    const { path, remove } = await temporaryDirectory();
    const real = join(path, "real");
    writeFileSync(real, '#!/bin/sh\nread -r line; echo "$line $*"; echo alas >&2; exit 3\n', { mode: 0o755 });
    const records = join(path, "records");
    const program = recorder(real, records);
    writeFileSync(
      join(records, `test-${process.pid}`),
      `${JSON.stringify({ file: "a.test.ts", test: "b" })}\n`,
    );
    const { status, stdout, stderr } = spawnSync(program, ["deploy", "two words\n"], {
      input: "typed\n",
      env: {},
    });
    expect([status, stdout.toString(), stderr.toString()]).toEqual([
      3,
      "typed deploy two words\n\n",
      "alas\n",
    ]);
    expect(recorded(records)).toEqual([
      {
        code: 3,
        file: "a.test.ts",
        test: "b",
        said: "typed deploy two words\n\nalas",
        args: ["deploy", "two words\n"],
      },
    ]);
    await remove();
  });

  const APART = ["--user", "--map-root-user", "--pid", "--fork"];
  const apart = needs("userns", spawnSync("unshare", [...APART, "true"]).status === 0);
  it.runIf(apart)("keeps each run, also when the number of its process comes again", async () => {
    const { path, remove } = await temporaryDirectory();
    const real = join(path, "real");
    writeFileSync(real, "#!/bin/sh\n", { mode: 0o755 });
    const records = join(path, "records");
    const program = recorder(real, records);
    for (const name of ["alias-env", "unalias-env"])
      expect(spawnSync("unshare", [...APART, program, name]).status).toBe(0);
    expect(
      recorded(records)
        .map(({ args }) => args[0])
        .sort(),
    ).toEqual(["alias-env", "unalias-env"]);
    await remove();
  });
});
