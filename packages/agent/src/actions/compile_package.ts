import type { CompileDependencies } from "@slipway/protocol/agent/compile-dependencies";
import { type PackagePlan, planPackage } from "../jobs/plan.ts";
import { compile } from "../packages/compile.ts";
import type { Paths } from "../paths.ts";
import type { Action } from "./action.ts";

export const compilePackage: Action<"compile_package"> = async (args, { services, signal }) => {
  const { blobId, digest, name, version } = args;
  const dependencies = plannedDependencies(args.dependencies, services.paths);
  const stored = await compile(
    { name, version, source: { blobId, digest }, dependencies },
    (archive) => services.blobs.store(archive, signal),
    services,
    signal,
  );
  return { result: { blobstore_id: stored.blobId, sha1: stored.digest } };
};

export const plannedDependencies = (
  given: CompileDependencies | null | undefined,
  paths: Paths,
): readonly PackagePlan[] =>
  Object.values(given ?? {}).map(({ name, version, sha1, ...where }) =>
    planPackage(
      {
        ...{ name, version, digest: sha1 },
        blobId: where.blobstore_id ?? "",
        signedUrl: where.package_get_signed_url ?? undefined,
        headers: where.blobstore_headers ?? undefined,
      },
      paths,
    ),
  );
