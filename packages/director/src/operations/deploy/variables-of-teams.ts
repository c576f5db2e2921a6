import type { ConfigServer } from "@slipway/engine/variables/config-server";
import type { Scope } from "@slipway/engine/variables/names";
import { teamsOfDeployment } from "../../store/deployments.ts";
import type { Db } from "../../store/schema.ts";
import { VariableOfAnotherTeam } from "../errors.ts";

/**
 * The config server as one deployment may use it. `/DIRECTOR/DEPLOYMENT/...` belongs to that deployment: another one may
 * read or generate there only if both have a team in common, or if it is itself of no team, as administrators deploy it.
 */
export function variablesOfTeams(server: ConfigServer, scope: Scope, db: Db): ConfigServer {
  const demand = async (name: string): Promise<void> => {
    const owner = ownerOf(name, scope);
    if (owner === undefined || owner === scope.deployment) return;
    const theirs = await teamsOfDeployment(db, owner);
    if (theirs === undefined) return;
    const ours = await teamsOfDeployment(db, scope.deployment);
    if (ours !== undefined && (ours.length === 0 || ours.some((team) => theirs.includes(team)))) return;
    throw VariableOfAnotherTeam({ name, owner });
  };
  return {
    newest: async (name, signal) => {
      await demand(name);
      return await server.newest(name, signal);
    },
    byId: async (id, name, signal) => {
      await demand(name);
      return await server.byId(id, name, signal);
    },
    generate: async (wanted, signal) => {
      await demand(wanted.name);
      if (typeof wanted.options.ca === "string") await demand(wanted.options.ca);
      return await server.generate(wanted, signal);
    },
  };
}

function ownerOf(name: string, { director }: Scope): string | undefined {
  const start = `/${director}/`;
  const [owner, ...rest] = name.startsWith(start) ? name.slice(start.length).split("/") : [];
  return rest.length === 0 ? undefined : owner;
}
