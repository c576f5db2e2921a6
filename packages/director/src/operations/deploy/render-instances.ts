import { createHash } from "node:crypto";
import type { PlannedJob } from "@slipway/engine/jobs/model";
import { type JobFailures, renderingReport } from "@slipway/engine/jobs/rendering-report";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { InstanceJobs } from "@slipway/engine/model/records";
import { type UnpackedJob, unpackStoredJob } from "@slipway/engine/releases/archive";
import type { KnownJob } from "@slipway/engine/releases/model";
import { RenderingFailed } from "@slipway/engine/templates/errors";
import { type JobInputs, templateInputs } from "@slipway/engine/templates/inputs";
import {
  configurationHash,
  type RenderedFile,
  type RenderedJob,
  renderJob,
  templateHash,
} from "@slipway/engine/templates/render-job";
import { type RenderedArchive, renderedArchive } from "@slipway/engine/templates/rendered-archive";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { inFlight } from "../in-flight.ts";
import type { OperationContext } from "../operation.ts";
import { fillContext } from "./fill-context.ts";
import { propertyChecker } from "./property-problems.ts";
import type { DeployVariables } from "./variables.ts";

/** Jobs that are rendered at once: enough that no thread of the renderer waits. */
const AT_ONCE = 16;

/** All jobs of one instance, as they are sent, and what tells whether they changed. */
export interface RenderedInstance
  extends Pick<InstanceJobs, "configurationHash" | "templateHashes" | "files" | "inputs"> {
  /** Undefined: its templates see what they saw before, so that nothing was rendered. */
  readonly archive: RenderedArchive | undefined;
}

export interface InstanceToRender {
  readonly uuid: InstanceUuid;
  readonly group: string;
  readonly jobs: readonly PlannedJob[];
  /** Its jobs as recorded: they are not rendered again if their templates see the same. Undefined: they are rendered. */
  readonly before?: InstanceJobs | null | undefined;
}

/** Renders all that may have changed; one error names all failures, before anything has changed. */
export async function renderInstances(
  instances: readonly InstanceToRender[],
  variables: Pick<DeployVariables, "late" | "lateOf">,
  tools: OperationContext,
  signal: AbortSignal,
): Promise<ReadonlyMap<InstanceUuid, RenderedInstance>> {
  const rendered = new Map<InstanceUuid, RenderedInstance>();
  const failures: JobFailures[] = [];
  const unpacked = new Map<string, Promise<UnpackedJob>>();
  const unpack = (job: KnownJob): Promise<UnpackedJob> => {
    const made = unpacked.get(job.blobId) ?? unpackStoredJob(job, tools.blobs);
    unpacked.set(job.blobId, made);
    return made;
  };
  const problemsOf = propertyChecker(tools);
  const identity = await tools.renderer.identity();
  await inFlight(instances, AT_ONCE, async ({ uuid, group, jobs, before }) => {
    const filled: (PlannedJob & JobInputs)[] = [];
    for (const one of jobs) filled.push({ ...one, context: await fillContext(one.context, variables) });
    const inputs = identity === undefined ? undefined : templateInputs(filled, identity, tools.keyedHash);
    if (before && inputs !== undefined && before.inputs === inputs) {
      const { configurationHash: hash, templateHashes, files } = before;
      rendered.set(uuid, { configurationHash: hash, templateHashes, files, inputs, archive: undefined });
      return;
    }
    const made: RenderedJob[] = [];
    for (const planned of filled) {
      const { context } = planned;
      const job = await unpack(planned.job);
      const problems = await problemsOf(job, (context.properties ?? {}) as JsonObject);
      if (problems.length > 0) {
        failures.push({ group, job: planned.job.name, properties: problems });
        continue;
      }
      const result = await renderJob(tools.renderer, "director", { job, context }, signal);
      if (result.ok) made.push(withLinks(result.job, planned));
      else failures.push({ group, job: planned.job.name, failures: result.failures });
    }
    if (made.length === jobs.length) rendered.set(uuid, { ...(await packed(made)), inputs });
  });
  if (failures.length > 0) throw RenderingFailed({ report: renderingReport(failures) });
  return rendered;
}

async function packed(jobs: readonly RenderedJob[]): Promise<Omit<RenderedInstance, "inputs">> {
  return {
    archive: await renderedArchive(jobs),
    configurationHash: configurationHash(jobs),
    templateHashes: Object.fromEntries(jobs.map((job) => [job.name, templateHash(job)])),
    files: Object.fromEntries(
      jobs.flatMap(({ name, monit, files }) =>
        [{ path: "monit", content: monit }, ...files].map((file) => [`${name}/${file.path}`, hashOf(file)]),
      ),
    ),
  };
}

const hashOf = ({ content }: RenderedFile): string => createHash("sha256").update(content).digest("hex");

/** Adds the links a job provides, for programs on the VM, as upstream. */
function withLinks(job: RenderedJob, { provides }: PlannedJob): RenderedJob {
  const sorted = [...provides].sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0));
  const text = `${JSON.stringify(sorted, null, 2)}\n`;
  return { ...job, files: [...job.files, { path: ".bosh/links.json", content: Buffer.from(text) }] };
}
