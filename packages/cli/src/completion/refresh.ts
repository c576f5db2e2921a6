import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { instance } from "@slipway/protocol/director/instance";
import * as v from "valibot";
import { listDeployments } from "../api/deployments.ts";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import { listTasks } from "../api/tasks.ts";
import type { Completes } from "../command.ts";
import type { Tools } from "../tools.ts";
import { listStemcells } from "../uploads/list-stemcells.ts";
import { knownFile } from "./cached-names.ts";

const DEPLOYMENTS = 50;
const TASKS = 30;
/** Shells read these words: nothing else is offered. */
const PLAIN = /^[\w.+/-]+$/;

/** Asks the Director for the names that shells offer, and writes them down. */
export async function refreshKnown({
  director,
  home,
  env,
}: Pick<Tools, "director" | "home" | "env">): Promise<void> {
  const lines = await known(await director());
  const dir = join(home.dir, "completion");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFileAtomic(join(dir, knownFile(env.BOSH_ENVIRONMENT)), lines.join(""), 0o600);
}

async function known(api: DirectorApi): Promise<readonly string[]> {
  const line = (kind: Completes, name: string, of = "-"): string[] =>
    PLAIN.test(name) && PLAIN.test(of) ? [`${kind} ${of} ${name}\n`] : [];
  const deployments = (await listDeployments(api)).slice(0, DEPLOYMENTS);
  const [tasks, stemcells, ...instances] = await Promise.all([
    listTasks(api, { deployment: undefined, all: false, recent: TASKS }),
    listStemcells(api),
    ...deployments.map(async ({ name }) => {
      const path = `/deployments/${pathSegment(name)}/instances`;
      return (await api.json({ method: "GET", path }, v.array(instance))).flatMap((one) => [
        ...line("instance", `${one.job}/${one.id}`, name),
        ...line("instance", one.job ?? "", name),
      ]);
    }),
  ]);
  return [
    ...deployments.flatMap(({ name }) => line("deployment", name)),
    ...new Set(instances.flat()),
    ...tasks.flatMap(({ id }) => line("task", String(id))),
    ...stemcells.flatMap(({ name, version }) => line("stemcell", `${name}/${version}`)),
  ];
}
