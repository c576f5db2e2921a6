import type { ColumnType, Generated, JSONColumnType } from "kysely";
import type { Sealed } from "./sealed.ts";

/** Kinds of columns. Integers come as numbers: see `open.ts`. */
export type Id = Generated<number>;
export type Time = ColumnType<Date, Date | string, Date | string>;
export type TimeNow = ColumnType<Date, Date | string | undefined, Date | string>;
export type MaybeTime = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
export type Json<T extends object> = JSONColumnType<T>;
/** Column that is kept encrypted: see `sealed.ts`. */
export type Kept<T> = ColumnType<T, Sealed, Sealed>;
export type MaybeJson<T extends object | string> = ColumnType<
  T | null,
  string | null | undefined,
  string | null
>;
