import type { Table } from "./ui.ts";

/** A field of a single thing: its JSON key, its title and its value. */
export type Field = readonly [key: string, title: string, value: string];

/** A single thing, its fields below each other. */
export const fieldsTable = (content: string, fields: readonly Field[]): Table => ({
  content,
  header: Object.fromEntries(fields.map(([key, title]) => [key, title])),
  rows: [fields.map(([, , value]) => value)],
  transpose: true,
});
