import type { DnsGroup } from "@slipway/engine/jobs/dns/ids";
import type { LinkProvider } from "@slipway/engine/jobs/links/model";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { ColumnType, Generated } from "kysely";
import type { Id, Json, Kept, TimeNow } from "./columns.ts";
import type { Sealed } from "./sealed.ts";

/** The tables of DNS and links. */
export interface NameTables {
  dns_azs: { id: Id; name: string };
  dns_networks: { id: Id; name: string };
  dns_groups: { id: Id; deployment_id: number; type: DnsGroup["type"]; name: string };
  link_providers: {
    id: Id;
    deployment_id: number;
    group_name: string;
    job: string;
    kind: LinkProvider["kind"];
    original_name: string;
    name: string;
    type: string;
    /** Name and type that a deploy gives it, which has not succeeded yet. */
    announced_name: string | null;
    announced_type: string | null;
    shared: boolean;
    consumable: boolean;
    custom: boolean;
    properties_sealed: Kept<JsonObject>;
    aliases: Json<JsonObject[]>;
    content_sealed: ColumnType<JsonObject | null, Sealed | null, Sealed | null>;
  };
  link_consumers: {
    id: Id;
    deployment_id: number;
    group_name: string | null;
    job: string;
    original_name: string;
    name: string;
    type: string;
    optional: boolean;
    owner_teams: Generated<string[]>;
  };
  links: {
    id: Id;
    consumer_id: number;
    provider_id: number | null;
    name: string;
    content_sealed: Kept<JsonObject>;
    created_at: TimeNow;
  };
  dns_records: { version: Id; content: string; created_at: TimeNow };
}
