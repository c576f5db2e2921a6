import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Generated } from "kysely";
import type { Id, Json, MaybeTime, TimeNow } from "./columns.ts";

/** The tables of managed networks. */
export interface NetworkTables {
  networks: {
    id: Id;
    name: string;
    type: Generated<string>;
    ready: Generated<boolean>;
    created_at: TimeNow;
    orphaned_at: MaybeTime;
  };
  subnets: {
    id: Id;
    network_id: number;
    name: string;
    cid: string;
    cpi: string;
    range: string;
    gateway: string | null;
    reserved: Json<string[]>;
    cloud_properties: Json<JsonObject>;
    deleting_task: Generated<number | null>;
    deleting_since: MaybeTime;
  };
  deployment_networks: { deployment_id: number; network_id: number };
}
