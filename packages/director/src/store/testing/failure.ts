/** What the work failed with; a text when it did not. */
export const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error: unknown) => error,
  );
