import { refuseMissingVariables, refuseRelativeVariables } from "../cpis/clouds-now.ts";
import { configuredCpis, cpisIn } from "../cpis/configured.ts";
import { checkShape, keysOf } from "./documents.ts";
import type { Services } from "./services.ts";

interface NewContent {
  readonly type: string;
  readonly name: string;
  readonly content: string;
  /** Error number for an invalid document. */
  readonly number: number;
}

/** Refuses content that no config can have, before it is stored. */
export async function checkConfigContent(
  { db, documents, cpis }: Pick<Services, "db" | "documents" | "cpis">,
  { type, name, content, number }: NewContent,
): Promise<void> {
  const what = `the ${type} config`;
  await keysOf(documents, { text: content, what, number });
  await checkShape(documents, { type, text: content, what, number });
  if (type !== "cpi") return;
  for (const cpi of await configuredCpis({ db, documents }, { name, content })) cpis.check(cpi);
  await refuseRelativeVariables(await cpisIn({ name, content }, { db, documents }));
}

/** Refuses a CPI config with variables that the config server does not have. */
export async function checkCpiVariables(
  { db, documents, configServer, identity }: Pick<Services, "db" | "documents" | "configServer" | "identity">,
  config: Pick<NewContent, "name" | "content">,
): Promise<void> {
  const cpis = await cpisIn(config, { db, documents });
  await refuseMissingVariables(cpis, { variables: configServer, director: identity.name });
}
