import { releaseArchive } from "../../director/release-archive.ts";

/** A release with one job and one package, both named `web`; the job may be an errand. The package is the same in all versions. */
export async function releaseFile(name: string, version: string, errand = false): Promise<Buffer> {
  const templates = errand ? { run: "bin/run" } : {};
  const properties = errand ? { tag: { default: "" } } : {};
  const job = {
    name: "web",
    spec: { templates, packages: ["web"], properties },
    monit: `# ${version}\n`,
    templates: errand ? { run: "#!/bin/sh\n" } : {},
  };
  return await releaseArchive({
    name,
    version,
    jobs: [job],
    packages: [{ name: "web", files: { packaging: "true\n" } }],
  });
}
