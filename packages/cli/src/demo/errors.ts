import { defineError } from "@slipway/kernel/errors";

export const NotTheDemos = defineError<{ what: string; home: string }>({
  code: "CLU-021",
  kind: "operator",
  message: (p) =>
    `there is ${p.what} in ${p.home} that the demo did not create; the demo changes nothing there`,
  next: "Give the demo a directory of its own: put SLIPWAY_HOME=DIR before the command, and --port N behind it.",
});

export const BadRange = defineError<{ given: string; takes: string; example: string }>({
  code: "CLU-023",
  kind: "operator",
  typed: true,
  message: (p) => `--range takes ${p.takes} such as ${p.example}, got '${p.given}'`,
  next: "Give one like that, which nobody here uses.",
});

export const NoVm = defineError<{ what: string }>({
  code: "CLU-024",
  kind: "operator",
  message: (p) => `the demo is deployed, but its instance lacks ${p.what}`,
  next: "Look at `slipway -d demo instances --details`. If somebody has stopped it, `slipway -d demo start` brings it back.",
});

export const PromiseBroken = defineError<{ what: string }>({
  code: "CLU-025",
  kind: "bug",
  message: (p) => `the demo failed its own check: ${p.what}`,
  next: "Report it with the output of `slipway explain -d demo`.",
});

export const DemoRuns = defineError<{ home: string; holder: string }>({
  code: "CLU-027",
  kind: "operator",
  message: (p) => `another demo runs in ${p.home}: ${p.holder}`,
  next: "Wait for its end, or give this one a directory of its own: put SLIPWAY_HOME=DIR before the command, and --port N behind it.",
});

export const PageSilent = defineError<{ url: string; why: string }>({
  code: "CLU-028",
  kind: "outside",
  message: (p) => `the page of the demo, ${p.url}, was not to be had: ${p.why}`,
  next: "See whether its job runs: `slipway -d demo instances --ps`. What it says is in `slipway -d demo logs counter`.",
});
