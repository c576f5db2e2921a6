/** Returns the error of the work; a text if it succeeded. */
export const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error: unknown) => error,
  );
