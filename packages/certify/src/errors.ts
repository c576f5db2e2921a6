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
