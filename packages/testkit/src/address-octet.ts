/** Workers of one run that are told apart; more of them share numbers with others. */
const WORKERS = 10;
const EACH = 250 / WORKERS;

/**
 * The third octet of addresses that a worker's tests use: from 1 to 250, another one for each worker of a run, and by
 * chance of the process number for runs beside it.
 */
export function addressOctet(worker = Number(process.env.VITEST_POOL_ID ?? 1), pid = process.pid): number {
  return 1 + ((worker - 1) % WORKERS) * EACH + (pid % EACH);
}
