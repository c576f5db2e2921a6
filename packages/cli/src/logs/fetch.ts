import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import { runTask } from "../api/run-task.ts";
import type { Slug } from "../states/slug.ts";
import { saveBlob, stamp } from "./save-blob.ts";

export interface LogsRequest {
  readonly deployment: string;
  readonly slug: Slug | undefined;
  /** `job`, or several with commas. */
  readonly types: string;
  readonly filters: readonly string[];
  /** Directory for the archive. */
  readonly dir: string;
}

/** A task packs them; the archive is named as upstream's CLI names it. */
export async function fetchLogs(wanted: LogsRequest, api: DirectorApi, clock: Clock): Promise<string> {
  const { deployment, slug, types, filters, dir } = wanted;
  const { result } = await runTask(api, {
    method: "GET",
    path: `/deployments/${pathSegment(deployment)}/jobs/${pathSegment(slug?.group ?? "*")}/${pathSegment(slug?.id ?? "*")}/logs`,
    query: { filters: filters.length === 0 ? undefined : filters.join(","), type: types },
  });
  const named = [deployment, slug?.group, slug?.id].filter((part) => part !== undefined).join(".");
  const path = join(dir, `${named}-${stamp(clock.now())}.tgz`);
  await saveBlob(api, { id: result }, path);
  return path;
}
