import type { Choice } from "../home/choice.ts";
import type { Tools } from "../tools.ts";
import type { Words } from "../up/words.ts";

export interface StemcellName {
  readonly name: string;
  readonly version: string;
}

/** The stemcell the demo deploys. */
export interface DemoStemcell {
  readonly doing: string;
  /** What it is, after its name. */
  readonly about: string;
  id(): Promise<StemcellName>;
  /** Its archive, in the directory; one that was made for this is removed by `done`. */
  archive(dir: string): Promise<{ readonly path: string; done(): Promise<void> }>;
}

/** What of the story depends on what VMs are. */
export interface Stage {
  readonly words: Words;
  /** Of the cloud config: addresses of VMs, and what stands above them. */
  readonly range: string;
  readonly comment: string;
  readonly stemcell: DemoStemcell;
  /** Whether what the Director knows as a stemcell is still there. */
  hasStemcell(cid: string): Promise<boolean>;
  /** Refuses addresses that somebody else has. */
  mustBeFree(range: string): Promise<void>;
  /** What one can look at next, beside what is always there. */
  readonly look: readonly string[];
}

export type StageTools = Pick<Tools, "clock" | "programs">;

export async function stageOf(choice: Choice, tools: StageTools): Promise<Stage> {
  if (choice.cpi === "local") return (await import("./local.ts")).localStage(tools);
  return (await import("./docker.ts")).dockerStage(choice, tools);
}
