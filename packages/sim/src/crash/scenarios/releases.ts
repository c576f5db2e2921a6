import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CrashScenario, Move, View } from "../scenario.ts";
import { releaseFile } from "./release-file.ts";
import { remembers, taskOf } from "./tasks.ts";

/** A release's archive, as the API has left it for the task. */
const archive = (version: string, name = "web"): Move => ({
  world: async ({ uploadsDir }) =>
    writeFile(join(uploadsDir, `${version}.tgz`), await releaseFile(name, version)),
});
const upload = (version: string, options: { readonly fix?: boolean; readonly rebase?: boolean } = {}) => ({
  task: ({ uploadsDir }: View) =>
    taskOf("update_release", {
      ...{ path: join(uploadsDir, `${version}.tgz`), fix: false, rebase: false },
      ...options,
    }),
});
const first = [archive("1"), upload("1"), archive("2")];

/** Every blob that a release needs is there, and after a start no other. */
export const blobsOfReleases = ({ releases, compiled, blobs: there }: View): readonly string[] => {
  const needed = new Set([
    ...releases.flatMap((release) => release.blobs),
    ...compiled.map(({ blob }) => blob),
  ]);
  return [
    ...[...needed].filter((id) => !there.includes(id)).map((id) => `blob ${id} is gone`),
    ...there.filter((id) => !needed.has(id)).map((id) => `blob ${id} is nobody's`),
  ];
};
const has =
  (...versions: string[]) =>
  (view: View): readonly string[] => {
    const found = view.releases.map(({ name, version }) => `${name}/${version}`);
    return found.join() === versions.join()
      ? blobsOfReleases(view)
      : [`there are the releases ${found.join()}`];
  };

export const RELEASE_UPLOADS: readonly CrashScenario[] = [
  {
    name: "upload a release",
    cpi: remembers,
    before: [archive("1")],
    move: upload("1"),
    expects: has("web/1"),
  },
  {
    name: "upload another version of a release",
    cpi: remembers,
    before: first,
    move: upload("2"),
    expects: has("web/1", "web/2"),
  },
  {
    name: "upload a release that shares a package with another",
    cpi: remembers,
    before: [archive("1"), upload("1"), archive("2", "shop")],
    move: upload("2"),
    expects: has("shop/2", "web/1"),
  },
  {
    name: "fix a release",
    cpi: remembers,
    before: [archive("1"), upload("1"), archive("1")],
    move: upload("1", { fix: true }),
    expects: has("web/1"),
  },
  {
    name: "upload a release with the next version that is free",
    cpi: remembers,
    before: [archive("1"), upload("1", { rebase: true }), archive("1")],
    move: upload("1", { rebase: true }),
    expects: has("web/1+dev.1", "web/1+dev.2"),
  },
];

const deletion = (params: { readonly name: string; readonly version?: string }) => ({
  task: taskOf("delete_release", { ...params, force: false }),
});

export const RELEASE_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete a version of a release",
    cpi: remembers,
    before: [...first, upload("2")],
    move: deletion({ name: "web", version: "1" }),
    expects: has("web/2"),
  },
  {
    name: "delete a release",
    cpi: remembers,
    before: [...first, upload("2")],
    move: deletion({ name: "web" }),
    expects: has(),
  },
];
