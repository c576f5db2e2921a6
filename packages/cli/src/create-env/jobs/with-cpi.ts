import { WasmRenderer } from "@slipway/engine/templates/wasm-renderer";
import type { CloudProvider } from "../manifest/model.ts";
import type { EnvTools } from "../session.ts";
import { stagesOn } from "../stages.ts";
import type { Workspace } from "../workspace.ts";
import { installCpi } from "./install-cpi.ts";
import type { RenderTools } from "./plan.ts";
import type { Releases } from "./releases.ts";

/** For all templates of one job. */
const RENDER_LIMIT_MS = 60_000;

export interface Needs {
  readonly name: string;
  readonly cloudProvider: CloudProvider;
  readonly releases: Releases;
}

/** Runs `work` with a CPI that can be called, installed first when it is one of a release; the Ruby ends with it. */
export async function withCpi<T>(
  { name, cloudProvider, releases }: Needs,
  workspace: Workspace,
  { programs, clock, random, ui, stop: signal }: EnvTools,
  work: (provider: CloudProvider, rendering: RenderTools) => Promise<T>,
): Promise<T> {
  const { renderer: worker, ruby } = programs;
  const pool = new WasmRenderer({ worker, ruby, clock, threads: 1, limit: RENDER_LIMIT_MS });
  // The CPI and the environment are of one operator and one manifest: one renderer serves both.
  const tools = { renderer: pool.open(), random, signal };
  try {
    if (cloudProvider.cpi.kind !== "release") return await work(cloudProvider, tools);
    const cpi = await stagesOn(ui, clock).stage("installing CPI", (stages) =>
      installCpi(cloudProvider, { releases, deployment: name, workspace, stages, tools }),
    );
    ui.line("");
    // Its properties are in its own configuration.
    return await work({ ...cloudProvider, cpi, properties: {} }, tools);
  } finally {
    await pool.close();
  }
}
