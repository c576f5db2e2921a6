import { teamsOfDeployment } from "../store/deployments.ts";
import type { Db } from "../store/schema.ts";
import { hasResultOf, teamsOfTask } from "../tasks/list.ts";
import { type Query, queryString } from "./call.ts";
import { type Access, type Level, missing, type Permission, requireAccess } from "./permissions.ts";
import { NoSuchDeployment, NoSuchTask, ScopeMissing } from "./refusals.ts";

/** The parts of a request that decide who may make it. */
interface Asked {
  readonly access: Access;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly db: Db;
}

/** Throws unless the user has the permission. Lookups of named things come after the check for any access at all. */
export async function authorize(permission: Permission, asked: Asked): Promise<void> {
  const { access } = asked;
  if (access.admin) return;
  await RULES[permission](asked);
}

type Rule = (asked: Asked) => void | Promise<void>;

/** Rules for users who are not administrators. */
const RULES: Readonly<Record<Permission, Rule>> = {
  anyone: () => undefined,
  admin: ({ access }) => {
    throw missing(access, "admin");
  },
  read: ({ access }) => requireAccess(access, "read", []),
  upload_stemcells: ({ access }) => demandUpload(access, "stemcells"),
  upload_releases: ({ access }) => demandUpload(access, "releases"),
  list: ({ access }) => {
    if (!access.read && access.adminOf.length === 0) throw missing(access, "read");
  },
  look: ({ access }) => {
    if (!access.read && access.memberOf.length === 0) throw missing(access, "read");
  },
  team: ({ access }) => {
    if (access.adminOf.length === 0) throw missing(access, "admin");
  },
  deployment_read: (asked) => demandDeployment("read", asked),
  deployment_admin: (asked) => demandDeployment("admin", asked),
  deployment_diff: (asked) => demandDeployment("admin", asked, "may-be-new"),
  task_read: (asked) => demandTask("read", asked),
  task_admin: (asked) => demandTask("admin", asked),
  resource: async ({ access, params, db }) => {
    const { adminOf } = access;
    const made = adminOf.length > 0 && (await hasResultOf(db, params.id ?? "", adminOf));
    if (!made) throw missing(access, "admin");
  },
};

function demandUpload(access: Access, what: keyof Access["uploads"]): void {
  const { uuid, uploads } = access;
  if (uploads[what]) return;
  throw ScopeMissing({ accepted: ["bosh.admin", `bosh.${uuid}.admin`, `bosh.${what}.upload`] });
}

/** Requires access to the deployment of the path, or of the query if a list is limited to one deployment. */
async function demandDeployment(
  level: Level,
  { access, params, query, db }: Asked,
  absent?: "may-be-new",
): Promise<void> {
  const name = params.deployment ?? queryString(query, "deployment");
  if (access[level]) return;
  if (name === undefined || access.memberOf.length === 0) throw missing(access, level);
  const teams = await teamsOfDeployment(db, name);
  if (teams !== undefined) return requireAccess(access, level, teams);
  if (absent === undefined) throw NoSuchDeployment({ name });
  if (access.adminOf.length === 0) throw missing(access, level);
}

async function demandTask(level: Level, { access, params, db }: Asked): Promise<void> {
  if (access[level]) return;
  if (access.memberOf.length === 0) throw missing(access, level);
  const id = params.id ?? "";
  const teams = /^\d{1,15}$/.test(id) ? await teamsOfTask(db, Number(id)) : undefined;
  if (teams === undefined) throw NoSuchTask({ name: id });
  requireAccess(access, level, teams);
}
