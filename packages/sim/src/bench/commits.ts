import type { Clock } from "@slipway/kernel/clock";
import pg from "pg";

const CONNECTIONS = 20;
const EACH = 100;

/** The server without a Director: one row per commit, over as many connections as the Director has. */
export async function commitsPerSecond(connection: pg.PoolConfig, clock: Clock): Promise<number> {
  const pool = new pg.Pool({ ...connection, max: CONNECTIONS });
  try {
    await pool.query(
      "create table bench_rows (id bigint generated always as identity primary key, text text)",
    );
    const client = async (count: number) => {
      for (let at = 0; at < count; at++)
        await pool.query({ name: "row", text: "insert into bench_rows (text) values ($1)", values: ["row"] });
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, () => client(3)));
    const begun = clock.monotonic();
    await Promise.all(Array.from({ length: CONNECTIONS }, () => client(EACH)));
    const seconds = (clock.monotonic() - begun) / 1000;
    await pool.query("drop table bench_rows");
    return (CONNECTIONS * EACH) / seconds;
  } finally {
    await pool.end();
  }
}
