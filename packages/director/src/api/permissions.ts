import { ScopeMissing } from "./refusals.ts";

/** Who may call an endpoint, besides an administrator. `anyone` needs no credentials at all. */
export type Permission = "anyone" | "admin" | "read" | "upload_stemcells" | "upload_releases";

const scopesFor = (permission: Permission, uuid: string): readonly string[] => {
  const admin = ["bosh.admin", `bosh.${uuid}.admin`];
  if (permission === "read") return [...admin, "bosh.read", `bosh.${uuid}.read`];
  if (permission === "upload_stemcells") return [...admin, "bosh.stemcells.upload"];
  if (permission === "upload_releases") return [...admin, "bosh.releases.upload"];
  return admin;
};

export function demand(
  permission: Permission,
  user: { readonly scopes: readonly string[] },
  uuid: string,
): void {
  const accepted = scopesFor(permission, uuid);
  if (user.scopes.some((scope) => accepted.includes(scope))) return;
  throw ScopeMissing({ accepted });
}
