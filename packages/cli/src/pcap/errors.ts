import { defineError } from "@slipway/kernel/errors";

export const NoTcpdump = defineError<{ name: string }>({
  code: "CLI-080",
  kind: "operator",
  message: (p) => `nothing is captured: there is no tcpdump in ${p.name}`,
  next: "Install the package tcpdump there, take a stemcell that has it, or name only instances that do.",
});

export const CaptureRefused = defineError<{ name: string; why: string }>({
  code: "CLI-081",
  kind: "outside",
  message: (p) => `nothing is captured: ${p.name}: ${p.why}`,
  next: "Look at --interface and --filter: `slipway ssh {name} -c 'ip link'` shows the interfaces.",
});

export const NotACapture = defineError<{ name: string; why: string }>({
  code: "CLI-082",
  kind: "outside",
  message: (p) => `what ${p.name} sends is no capture of packets: ${p.why}`,
  next: "See that nothing prints a greeting there when a command is run: `slipway ssh {name} -c true`.",
});

export const DifferentLinks = defineError<{ links: readonly string[] }>({
  code: "CLI-083",
  kind: "operator",
  message: (p) => `packets of different kinds of links do not go into one file: ${p.links.join("; ")}`,
  next: "Capture once for each kind: name its instances, or an --interface that is of one kind in all of them.",
});

export const CaptureEnded = defineError<{ failures: readonly string[] }>({
  code: "CLI-084",
  kind: "outside",
  message: (p) => `not all was captured: ${p.failures.join("; ")}`,
  next: "The file has what came before.",
});

export const FileFailed = defineError<{ path: string; why: string }>({
  code: "CLI-085",
  kind: "operator",
  message: (p) => `packets cannot be written to '${p.path}': ${p.why}`,
  next: "Name a file in a directory that is there, may be written, and has space.",
});
