export { type AnchorLine, anchorLines, rewrittenLine, signedLine } from './anchor.ts';
export type { Noted } from './cut.ts';
export {
  type DigestSigned,
  endOfProofs,
  type LogRewritten,
  type Place,
  type Proof,
  type ProofLog,
  proofIn,
  type SigningKeyChanged,
  type WriteProof,
} from './digestLog.ts';
export {
  BadLine,
  checksumLine,
  type ExportEnd,
  type ExportedEvent,
  type ExportHead,
  endLine,
  eventLine,
  headLine,
  lineHash,
  linesPerChecksum,
  readExport,
  signedText,
} from './exportLines.ts';
export { exportSource } from './exportSource.ts';
export type { Coverage, Finding } from './findings.ts';
export {
  digestText,
  fingerprintOf,
  isSignedBy,
  keyChangeText,
  keysInPem,
  newKey,
  publicKeyIn,
  type SigningKey,
  type SigningKeys,
} from './keys.ts';
export { digestStream, isLine, lineOf } from './lines.ts';
export { proofAppends } from './proofAppends.ts';
export { signAll } from './signAll.ts';
export type { Source } from './source.ts';
export { unsignedLines } from './unsignedLines.ts';
export { type Verified, verifyLog } from './verify.ts';
