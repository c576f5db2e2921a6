import { compareBytes } from "@slipway/engine/releases/source/fingerprint";
import type { Ui } from "../ui/ui.ts";
import type { BuiltRelease, BuiltResource } from "./built-release.ts";

type Shown = Omit<BuiltRelease, "jobs" | "packages" | "license" | "noCompression"> & {
  readonly jobs: readonly Omit<BuiltResource, "file">[];
  readonly packages: readonly Omit<BuiltResource, "file">[];
};

/** A release in upstream's three tables. */
export function showRelease(ui: Pick<Ui, "table">, release: Shown, archive: string | undefined): void {
  const mark = release.uncommittedChanges ? "+" : "";
  ui.table({
    content: "",
    count: null,
    transpose: true,
    header: {
      ...{ name: "Name", version: "Version", commit_hash: "Commit Hash" },
      ...(archive !== undefined && { archive: "Archive" }),
    },
    rows: [
      [
        release.name,
        release.version,
        `${release.commit}${mark}`,
        ...(archive === undefined ? [] : [archive]),
      ],
    ],
  });
  ui.table({
    content: "jobs",
    header: { job: "Job", digest: "Digest", packages: "Packages" },
    rows: inOrder(release.jobs.map(cells)),
  });
  const compiled = release.packages.some(({ stemcell }) => stemcell !== undefined);
  ui.table({
    content: "packages",
    header: {
      ...{ package: "Package", digest: "Digest", dependencies: "Dependencies" },
      ...(compiled && { os: "OS", os_version: "OS Version" }),
    },
    rows: inOrder(
      release.packages.map((one) => [...cells(one), ...(compiled ? slug(one.stemcell ?? "") : [])]),
    ),
  });
}

const cells = ({ name, fingerprint, digest, needs }: Omit<BuiltResource, "file">) => [
  `${name}/${fingerprint}`,
  digest,
  needs.join("\n"),
];

function slug(stemcell: string): readonly string[] {
  const at = stemcell.indexOf("/");
  return at < 0 ? [stemcell, ""] : [stemcell.slice(0, at), stemcell.slice(at + 1)];
}

const inOrder = (rows: readonly (readonly string[])[]) =>
  [...rows].sort(([a = ""], [b = ""]) => compareBytes(a, b));
