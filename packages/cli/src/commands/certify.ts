import type { Command } from "../command.ts";

/** Ours: upstream certifies CPIs by pipelines of its own. */
export const certify: Command = {
  name: "certify",
  summary: "check any CPI executable against the rules of the contract, and write a receipt",
  topic: "documents",
  options: [
    { flags: "--cpi <path>", about: "the CPI's executable, in any language" },
    { flags: "--config <path>", about: "its configuration (JSON); a copy gets the registry of the run" },
    { flags: "--cloud <path>", about: "what its cloud takes; `slipway certify init` writes one" },
    { flags: "--stemcell <path>", about: "the image that create_stemcell gets" },
    { flags: "--versions <list>", about: "of the contract, such as 1,2,3; without it 2" },
    { flags: "--only <rule>", about: "this rule, or those whose ids begin so: CPI-DISK", repeats: true },
    { flags: "--report <dir>", about: "for the receipt (JSON), JUnit XML, a page and a badge" },
    { flags: "--seed <word>", about: "noted in the receipt; chooses what is chosen by chance" },
  ],
  examples: [
    ["slipway certify --cpi ./my-cpi --config cpi.json --report out", "ends with 0 if every rule is kept"],
    ["slipway certify --cpi ./my-cpi --cloud certify.yml --only CPI-DISK", "rules of disks"],
  ],
  async run(given, tools) {
    const { runCertify } = await import("../certify/run-certify.ts");
    return await runCertify(given, tools);
  },
};

export const certifyInit: Command = {
  name: "certify init",
  summary: "write a file that says what the cloud of a CPI takes, for `slipway certify --cloud`",
  topic: "documents",
  arguments: [{ name: "[file]", about: "to be written; without it certify.yml" }],
  examples: [["slipway certify init", "then edit certify.yml"]],
  async run(given, { ui }) {
    const [{ writeFile }, { CLOUD_FILE_TEMPLATE }, { systemCode }, { CloudFileThere }] = await Promise.all([
      import("node:fs/promises"),
      import("@slipway/certify/session/template"),
      import("@slipway/kernel/errors"),
      import("../certify/errors.ts"),
    ]);
    const path = given.argument(0) ?? "certify.yml";
    await writeFile(path, CLOUD_FILE_TEMPLATE, { flag: "wx" }).catch((cause: unknown) => {
      throw systemCode(cause) === "EEXIST" ? CloudFileThere({ path }, { cause }) : cause;
    });
    ui.line(`${path} is written. Every value in it is the default: keep what your cloud needs otherwise.`);
    return 0;
  },
};

export const certifyClean: Command = {
  name: "certify clean",
  summary: "remove from the cloud what runs of `slipway certify` left that were killed",
  topic: "documents",
  examples: [["slipway certify clean", ""]],
  async run(_, tools) {
    const [{ cleanRuns }, { runsIn }] = await Promise.all([
      import("@slipway/certify/session/clean"),
      import("../certify/run-certify.ts"),
    ]);
    const { ui, clock } = tools;
    const runs = await cleanRuns(runsIn(tools), clock);
    const left = runs.flatMap((run) => run.left);
    for (const { dir, cpi, found, left } of runs)
      ui.line(`${cpi || dir}: ${found - left.length} of ${found} removed`);
    if (runs.length === 0) ui.line("No killed run has left anything.");
    for (const { thing, why } of left) ui.note(`not removed: ${thing}: ${why}`);
    return left.length === 0 ? 0 : 3;
  },
};
