import { ScopeMissing } from "./refusals.ts";

/** Permissions of endpoints, in the words of the API's page. An administrator has all of them. */
export const PERMISSIONS = {
  anyone: "anyone",
  admin: "admin",
  read: "read",
  upload_stemcells: "upload stemcells",
  upload_releases: "upload releases",
  list: "read; admins of a team",
  look: "read; members of a team",
  team: "admins of a team",
  deployment_read: "read; members of its teams",
  deployment_admin: "admins of its teams",
  deployment_diff: "admins of its teams; of a new one, of any",
  task_read: "read; members of its teams",
  task_admin: "admins of its teams",
  resource: "admins of the team whose task made it",
} as const;
export type Permission = keyof typeof PERMISSIONS;

/** Access that the scopes of a user grant on this Director. */
export interface Access {
  readonly admin: boolean;
  /** Administrators read, too. */
  readonly read: boolean;
  readonly uploads: { readonly stemcells: boolean; readonly releases: boolean };
  /** Teams, in the order of the scopes. */
  readonly adminOf: readonly string[];
  /** Teams whose deployments the user may see, except for secrets. Includes those of `adminOf`. */
  readonly memberOf: readonly string[];
  /** UUID of this Director, for messages. */
  readonly uuid: string;
}

const TEAM = /^bosh\.teams\.([^.]+)\.(admin|read)$/;

export function accessOf(scopes: readonly string[], uuid: string): Access {
  const has = (...any: string[]) => any.some((scope) => scopes.includes(scope));
  const admin = has("bosh.admin", `bosh.${uuid}.admin`);
  const teams = scopes.flatMap((scope) => {
    const [, name, role] = TEAM.exec(scope) ?? [];
    return name === undefined ? [] : [{ name, role }];
  });
  return {
    admin,
    read: admin || has("bosh.read", `bosh.${uuid}.read`),
    uploads: {
      stemcells: admin || has("bosh.stemcells.upload"),
      releases: admin || has("bosh.releases.upload"),
    },
    adminOf: [...new Set(teams.filter(({ role }) => role === "admin").map(({ name }) => name))],
    memberOf: [...new Set(teams.map(({ name }) => name))],
    uuid,
  };
}

export const NO_ACCESS = accessOf([], "");

export type Level = "read" | "admin";

/** Reports whether something of these teams may be read or changed. */
export const canAccess = (access: Access, level: Level, teams: readonly string[]): boolean =>
  access[level] ||
  teams.some((team) => (level === "admin" ? access.adminOf : access.memberOf).includes(team));

/** The same, with an error that names the scopes. */
export function requireAccess(access: Access, level: Level, teams: readonly string[]): void {
  if (!canAccess(access, level, teams)) throw missing(access, level, teams);
}

export const missing = ({ uuid }: Access, level: Level, teams: readonly string[] = []) =>
  ScopeMissing({
    accepted: [
      "bosh.admin",
      `bosh.${uuid}.admin`,
      ...teams.map((team) => `bosh.teams.${team}.admin`),
      ...(level === "admin"
        ? []
        : ["bosh.read", `bosh.${uuid}.read`, ...teams.map((team) => `bosh.teams.${team}.read`)]),
    ],
  });
