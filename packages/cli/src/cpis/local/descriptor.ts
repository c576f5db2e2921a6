import * as v from "valibot";
import type { CpiDescriptor, DemoRange, VmWords } from "../descriptor.ts";
import { ELSEWHERE, NoNamespaces } from "./errors.ts";

const choice = v.strictObject({ cpi: v.literal("local") });
type LocalChoice = Readonly<v.InferOutput<typeof choice>>;

export const WORDS: VmWords = {
  one: "sandbox",
  many: "sandboxes",
  title: "Sandboxes",
  interrupted: "Ctrl-C stops it and its sandboxes. State and disks are kept.",
  stopping: "Stopping the Director, its database and the sandboxes.",
  left: "Its database or sandboxes run on: `slipway up` takes them over, `slipway down` stops them.",
};

/** Second parts of addresses for the demos of other users and homes. */
const OTHERS = Array.from({ length: 8 }, (_, at) => 21 + at);

export const RANGE: DemoRange = {
  usual: ["127.20.0.0/24", ...OTHERS.map((part) => `127.${part}.0.0/24`)],
  takes: "addresses of loopback",
  example: "127.21.0.0/24",
  fits: /^127\./,
};

/** Sandboxes of this machine. */
export const local: CpiDescriptor<LocalChoice, LocalChoice, LocalChoice> = {
  name: "local",
  about: "local (sandboxes)",
  words: WORDS,
  options: [],
  range: RANGE,
  choice,
  select: () => ({ cpi: "local" }),
  /** A Director is of use without sandboxes, with other CPIs; the operator should not learn it from a failed deploy. */
  async prepare(selection, { ui }, needed) {
    const { probe } = await import("@slipway/cpi-local/probe");
    const allowed = await probe();
    if (allowed.ok) return selection;
    if (needed) throw NoNamespaces(allowed);
    ui.note(
      ui.paint.yellow(
        `Sandboxes cannot be made here: ${allowed.why}. To allow them: ${allowed.allow}. ${ELSEWHERE} The Director runs without.`,
      ),
    );
    return selection;
  },
  decide: (prepared) => prepared,
  withDirector: (made) => made,
  launch: () => ({ args: [], env: {} }),
  backend: async (_choice, tools) => (await import("./backend.ts")).localBackend(tools),
  stage: async (_choice, tools) => (await import("./demo-setup.ts")).localStage(tools),
};
