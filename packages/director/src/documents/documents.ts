import { type Questions, questions } from "./questions.ts";

type Question<K extends keyof Questions> = Parameters<Questions[K]>[0];
type Answer<K extends keyof Questions> = ReturnType<Questions[K]>;

/** A user of the API who asks. */
export interface Asker {
  readonly name: string;
  /** Administers nothing, neither the Director nor a team: gets a smaller share. */
  readonly reader: boolean;
}

/** Reads manifests and configs. Rejects with what `engine/documents/errors` and `documents/errors` have. */
export interface Documents {
  ask<K extends keyof Questions>(name: K, question: Question<K>): Promise<Answer<K>>;
  /** The same within the share of one user. Other questions are those of the Director's tasks. */
  askedBy(asker: Asker): Documents;
  close(): Promise<void>;
}

/** Reads documents on the thread of the caller, which waits. For programs that serve no other requests meanwhile. */
export const documentsHere: Documents = {
  ask: (name, question) => Promise.resolve().then(() => answerHere(name, question)),
  askedBy: () => documentsHere,
  close: () => Promise.resolve(),
};

/** The table has one type for each name; here it is not known which one it is. */
export const answerHere = <K extends keyof Questions>(name: K, question: Question<K>): Answer<K> =>
  (questions[name] as (asked: Question<K>) => Answer<K>)(question);
