import { join } from "node:path";
import { exportedRelease } from "@slipway/protocol/director/release";
import { check } from "@slipway/protocol/schema/check";
import { OddAnswer } from "../api/errors.ts";
import { runTask } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { BadArgument } from "../parse/errors.ts";
import { readRelease } from "../uploads/list-releases.ts";
import { releaseSlug, stemcellSlug } from "../uploads/release-slug.ts";
import { saveResource } from "../uploads/save-resource.ts";

/** `slipway export-release` */
export const exportRelease: Command = {
  name: "export-release",
  summary: "compile a release of a deployment for a stemcell, and download it",
  topic: "configuration",
  arguments: [
    { name: "<release>", about: "name/version" },
    { name: "<stemcell>", about: "os/version" },
  ],
  options: [
    { flags: "--dir <path>", about: "where the archive goes (.)" },
    { flags: "--job <name>", about: "only this job, and the packages it needs", repeats: true },
  ],
  examples: [["slipway -d shop export-release shop/1.2.0 ubuntu-jammy/1.785", ""]],
  async run(given, { ui, clock, director, mustDeployment }) {
    const { name, version } = releaseSlug(given.argument(0) ?? "");
    const stemcell = stemcellSlug(given.argument(1) ?? "");
    const [os = "", osVersion = ""] = stemcell.split("/");
    const deployment = mustDeployment();
    const api = await director();
    const jobs = given.texts("job");
    if (jobs.length > 0) {
      const known = (await readRelease(api, name, version)).jobs.map((job) => job.name);
      const unknown = jobs.find((job) => !known.includes(job));
      if (unknown !== undefined) throw BadArgument({ given: unknown, what: `a job of ${name}/${version}` });
    }
    const { id } = await runTask(api, {
      method: "POST",
      path: "/releases/export",
      contentType: "application/json",
      body: JSON.stringify({
        deployment_name: deployment,
        jobs: jobs.map((job) => ({ name: job })),
        ...{ release_name: name, release_version: version, sha2: true },
        ...{ stemcell_os: os, stemcell_version: osVersion },
      }),
    });
    const resource = readResult(await api.output(id, "result"));
    const path = join(
      given.text("dir") ?? ".",
      fileName([...jobs.toSorted(), name, version, os, osVersion], clock.now()),
    );
    ui.line(`Downloading resource '${resource.blobstore_id}' to '${path}'...`);
    await saveResource(api, resource, path);
    return 0;
  },
};

function readResult(text: string) {
  const odd = (why: string) => OddAnswer({ what: "the export of a release", why });
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw odd("the result of its task is no JSON");
  }
  const checked = check(exportedRelease, document, "result");
  if (!checked.ok) throw odd(checked.problems.join("; "));
  return checked.value;
}

/** Returns a file name as upstream's CLI makes it. */
function fileName(parts: readonly string[], now: number): string {
  const digits = new Date(now).toISOString().replaceAll(/[-:T]/g, "").replace("Z", "");
  return `${parts.join("-")}-${digits.slice(0, 8)}-${digits.slice(8).replace(".", "-")}.tgz`;
}
