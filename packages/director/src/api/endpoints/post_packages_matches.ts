import { planReleaseUpload } from "@slipway/engine/releases/plan-upload";
import { packageMatches } from "@slipway/protocol/director/release";
import { readReleaseManifest } from "@slipway/protocol/release/release-mf";
import { packagesLike } from "../../store/release-parts.ts";
import { BadDocument } from "../refusals.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

const BAD_MANIFEST = 440001;

/** A release.MF comes; which of its packages an upload may leave out is answered. Both kinds of release. */
const matches = (key: "packages" | "compiled_packages") =>
  endpoint({ reply: packageMatches }, async (call, { db, blobs, documents }) => {
    const what = "release.MF";
    const bad = (why: string) => BadDocument({ why, number: BAD_MANIFEST });
    const document = await documents.ask("value", { text: await call.text(), what });
    const parsed = readReleaseManifest(document);
    if (!parsed.ok) throw bad(parsed.problems.join("; "));
    const { release } = parsed;
    if (release.compiled !== (key === "compiled_packages")) throw bad(`${what} has no ${key}`);
    const stored = new Set(await blobs.list());
    const plan = planReleaseUpload({
      release,
      there: undefined,
      jobs: [],
      packages: await packagesLike(
        db,
        release.packages.map(({ fingerprint }) => fingerprint),
      ),
      holds: () => true,
      has: (id) => stored.has(id),
      fix: false,
    });
    const found = plan.packages.filter(({ source, compiled }) => (compiled?.source ?? source) !== "archive");
    return json([...new Set(found.map(({ fingerprint }) => fingerprint))]);
  });

export const postPackagesMatches = matches("packages");
export const postPackagesMatchesCompiled = matches("compiled_packages");
