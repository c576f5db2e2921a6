import { upload } from "../blobs/signed-url.ts";
import { compile } from "../packages/compile.ts";
import type { Action } from "./action.ts";
import { plannedDependencies } from "./compile_package.ts";

export const compilePackageWithSignedUrl: Action<"compile_package_with_signed_url"> = async (
  { request },
  { services, signal },
) => {
  const { name, version, digest, package_get_signed_url: signedUrl, upload_signed_url: to } = request;
  const headers = request.blobstore_headers ?? {};
  const sha1 = await compile(
    {
      ...{ name, version },
      source: { blobId: "", digest, signedUrl, headers },
      dependencies: plannedDependencies(request.deps, services.paths),
    },
    (archive) => upload(archive, to, headers, { clock: services.clock, signal }),
    services,
    signal,
  );
  return { result: { sha1 } };
};
