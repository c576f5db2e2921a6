import { join } from "node:path";
import { type ErrandLine, errandResult } from "@slipway/protocol/director/errand";
import type { ApiRequest } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import { taskLines } from "../api/task-lines.ts";
import type { Command, TypedInput } from "../command.ts";
import { saveBlob, stamp } from "../logs/save-blob.ts";
import { slug } from "../states/slug.ts";
import type { Ui } from "../ui/ui.ts";
import { ErrandCancelled, ErrandFailed } from "./errors.ts";

/** Codes above it are of signals. */
const LARGEST_EXIT = 128;

export const runErrand: Command = {
  name: "run-errand",
  summary: "run an errand where its job is, or in a VM that is made for it",
  topic: "deployments",
  arguments: [{ name: "<name>", about: "name of a job or of an instance group, as `errands` lists it" }],
  options: [
    {
      flags: "--instance <slug>",
      about: "only on this one: group, group/id, group/index or group/first",
      repeats: true,
      completes: "instance",
    },
    { flags: "--keep-alive", about: "keep the VM of an errand group, and use it next time" },
    { flags: "--when-changed", about: "only if something changed since it last succeeded" },
    { flags: "--download-logs", about: "fetch the logs of where it ran" },
    { flags: "--logs-dir <path>", about: "where they go (.)" },
  ],
  examples: [
    ["slipway -d shop run-errand smoke-tests", ""],
    ["slipway -d shop run-errand smoke-tests --instance web/0", "on one instance that has its job"],
  ],
  async run(given, { ui, director, mustDeployment, clock }) {
    const api = await director();
    const name = given.argument(0) ?? "";
    const request = errandRequest(mustDeployment(), name, given);
    const task = await api.begin(request);
    await api.follow(task);
    const ran = await taskLines(api, task, errandResult, `POST ${request.path}`);
    show(ran, ui);
    if (given.flag("download-logs"))
      for (const { logs, instance } of ran) {
        if (!logs.blobstore_id) continue;
        const file = `${name}.${instance.group}.${instance.id}-${stamp(clock.now())}.tgz`;
        const path = join(given.text("logs-dir") ?? ".", file);
        await saveBlob(api, { id: logs.blobstore_id, digest: logs.sha1 ?? undefined }, path);
        ui.line(`Downloaded logs to '${path}'`);
      }
    const failed = ran.filter(({ exit_code: code }) => code !== 0).at(-1)?.exit_code;
    if (failed === undefined) return 0;
    throw (failed > LARGEST_EXIT ? ErrandCancelled : ErrandFailed)({ name, code: failed });
  },
};

/** Returns the request that upstream's CLI sends. */
function errandRequest(deployment: string, name: string, given: TypedInput): ApiRequest & { path: string } {
  const instances = given
    .texts("instance")
    .map(slug)
    .map(({ group, id }) => (id === undefined ? { group } : { group, id }));
  return {
    method: "POST",
    path: `/deployments/${pathSegment(deployment)}/errands/${pathSegment(name)}/runs`,
    contentType: "application/json",
    body: JSON.stringify({
      instances,
      "keep-alive": given.flag("keep-alive"),
      "when-changed": given.flag("when-changed"),
    }),
  };
}

const show = (ran: readonly ErrandLine[], ui: Ui): void =>
  ui.table({
    content: "errand(s)",
    header: { instance: "Instance", exit_code: "Exit Code", stdout: "Stdout", stderr: "Stderr" },
    rows: ran
      .map((one) => [
        `${one.instance.group}/${one.instance.id}`,
        ...[String(one.exit_code), one.stdout, one.stderr],
      ])
      .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
    notes: [],
    transpose: true,
  });
