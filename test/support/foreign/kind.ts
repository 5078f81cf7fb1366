import type { Members } from '@automation-platform/json';
import type fc from 'fast-check';

/** A request. The body is JSON text, because the order of members and the writing of numbers count. */
export type Request = { readonly method: string; readonly path: string; readonly body?: string };

/** A kind of document that other installations have. */
export type Kind = {
  readonly name: string;
  /** Documents as other installations have written them. */
  readonly documents: fc.Arbitrary<Members>;
  /** The request that imports a document, given as JSON text. */
  readonly importing: (document: string) => Request;
  /** The request that exports the document in the words of the import. */
  readonly exporting: (document: Members) => Request;
  /** The document's text in the answer of an export, if it is not the whole answer. */
  readonly inside?: (answer: string) => string;
  /** Requests that make what the documents refer to. */
  readonly needs?: readonly Request[];
};
