import { info } from "@slipway/protocol/director/info";
import type { Access } from "../permissions.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Answers every command's first request, without credentials. Bad ones are no error here: `user` stays null. */
export const getInfo = endpoint(
  { reply: info },
  async (call, { identity, problems, dns, health, tokens }) => {
    const now = problems?.() ?? [];
    const upkeep = health?.snapshot()?.upkeep.map(({ what }) => what) ?? [];
    return json({
      name: identity.name,
      uuid: identity.uuid,
      version: identity.version,
      user: call.user === "" ? null : call.user,
      cpi: identity.cpi,
      stemcell_os: "-",
      stemcell_version: "-",
      user_authentication:
        tokens === undefined
          ? { type: "basic", options: {} }
          : { type: "uaa", options: { url: tokens.urls[0], urls: [...tokens.urls] } },
      features: {
        local_dns: { status: dns?.enabled ?? false, extras: { domain_name: dns?.domain ?? "bosh" } },
        snapshots: { status: identity.snapshots === true },
        config_server: { status: false, extras: { urls: [] } },
      },
      slipway: {
        cpi_api_version: identity.cpiApiVersion,
        ...(now.length > 0 && { problems: now }),
        ...(upkeep.length > 0 && { upkeep }),
        ...(call.user !== "" && { access: shownAccess(call.access) }),
      },
    });
  },
);

const shownAccess = ({ admin, read, adminOf, memberOf }: Access) => ({
  ...{ admin, read },
  ...{ admin_of: [...adminOf], member_of: [...memberOf] },
});
