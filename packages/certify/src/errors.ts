import { defineError } from "@slipway/kernel/errors";

export const CpiDidNotAnswer = defineError<{ path: string; method: string; why: string }>({
  code: "CER-001",
  kind: "outside",
  message: (p) => `the CPI ${p.path} gave no usable answer to ${p.method}: ${p.why}`,
  next: "Run the executable by hand with the request on stdin; it must print one JSON object with result, error and log.",
});

export const CpiRefused = defineError<{ method: string; type: string; message: string }>({
  code: "CER-002",
  kind: "outside",
  message: (p) => `the CPI answered ${p.method} with ${p.type}: ${p.message}`,
  next: "The message comes from the CPI. Correct the CPI or its configuration and run again.",
});

export const BadUsage = defineError<{ why: string }>({
  code: "CER-003",
  kind: "operator",
  message: (p) => p.why,
  next: "Try --help.",
});

export const ProgramMissing = defineError<{ path: string }>({
  code: "CER-004",
  kind: "operator",
  message: (p) => `the mixes need the built programs, and ${p.path} does not exist`,
  next: "Run it as `npm run matrix`, which builds what it needs.",
});

export const DirectorDidNotStart = defineError<{ why: string; said: string }>({
  code: "CER-005",
  kind: "outside",
  message: (p) => `the Director did not start: ${p.why}; it said: ${p.said || "nothing"}`,
  next: "The Director's output names what is missing. Run slipway-director by hand to see more.",
});

export const DirectorRefused = defineError<{ doing: string; why: string }>({
  code: "CER-006",
  kind: "outside",
  message: (p) => `the Director could not ${p.doing}: ${p.why}`,
  next: "The Director gives the reason. Correct the cause and run again.",
});

export const NobodyThere = defineError<{ who: string; where: string; why: string }>({
  code: "CER-010",
  kind: "operator",
  message: (p) => `no ${p.who} answers at ${p.where}: ${p.why}`,
  next: "Start it there, or correct the address.",
});

export const ReceiptUnreadable = defineError<{ what: string; why: string }>({
  code: "CER-011",
  kind: "operator",
  message: (p) => `${p.what} is not a receipt of certify: ${p.why}`,
  next: "Name the receipt.json that `slipway certify --report` wrote, unchanged.",
});

export const ReceiptFormat = defineError<{ what: string; format: number; known: number }>({
  code: "CER-012",
  kind: "operator",
  message: (p) => `${p.what} is a receipt of format ${p.format}, and this slipway reads format ${p.known}`,
  next: "Read it with the version of slipway that wrote it, or certify again with this one.",
});

export const CloudFileInvalid = defineError<{ what: string; why: string }>({
  code: "CER-020",
  kind: "operator",
  message: (p) => `${p.what} is not a cloud file: ${p.why}`,
  next: "`slipway certify init` writes one with every key and its meaning. Correct the key that is named.",
  typed: true,
});

export const JournalUnreadable = defineError<{ path: string; why: string }>({
  code: "CER-021",
  kind: "outside",
  message: (p) => `the journal ${p.path} cannot be read: ${p.why}`,
  next: "Look at the file for what was made, delete it in the cloud, and remove the directory of the journal.",
});

export const CpiNotRunnable = defineError<{ path: string }>({
  code: "CER-022",
  kind: "outside",
  message: (p) => `the CPI ${p.path} cannot be run`,
  next: "Check that the file is there, is executable and has an interpreter; run it by hand with `{}` on standard input.",
});

export const NoSuchRule = defineError<{ rule: string }>({
  code: "CER-023",
  kind: "operator",
  message: (p) => `there is no rule ${p.rule}`,
  next: "docs/contract/cpi-rules.md lists the rules; --only takes an id such as CPI-DISK-003, or its beginning.",
  typed: true,
});

export const CpiConfigInvalid = defineError<{ path: string; why: string }>({
  code: "CER-024",
  kind: "operator",
  message: (p) => `the configuration ${p.path} cannot be used: ${p.why}`,
  next: "--config names the CPI's configuration, a JSON object.",
  typed: true,
});
