import { oneByOne } from '../../concurrency/oneByOne.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type Bundle, type BundleType, keptTypes } from '../../domain/prebuilts/prebuiltSchemas.ts';
import { sealKept } from '../../domain/prebuilts/prebuiltSecrets.ts';
import type { Plan } from '../../domain/prebuilts/prebuilts.ts';
import type { Tools } from '../engine/define.ts';
import { planAutomation } from './prebuiltAutomations.ts';
import { planDocument } from './prebuiltDocuments.ts';
import { type Installing, newDraft } from './prebuiltDrafts.ts';
import { kinds } from './prebuiltKinds.ts';

/**
 * The error of one document as an error of the request. `inside` is the prefix of its paths that stands for the
 * document.
 */
const moved = ({ code, message, faults }: RequestError, index: number, inside: string): RequestError => {
  const within = (path = '') => (path.startsWith(inside) ? path.slice(inside.length) : path);
  return new RequestError(code, message, {
    faults: faults.map((fault) => ({ ...fault, path: `/prebuilt/bundles/${index}/data${within(fault.path)}` })),
  });
};

type Planned = {
  readonly plan: Plan;
  readonly sealed: readonly Bundle[];
  readonly errors: readonly RequestError[];
};

/**
 * The plan of an installation. Each document goes through the decision of the command that imports it. So nothing can
 * be rejected after the package is decided. Errors are returned, not thrown. `sealed` are the documents with sealed
 * secrets.
 */
export const planOf = async (request: Installing, given: Tools): Promise<Planned> => {
  const { bundles } = request.input.prebuilt;
  const draft = newDraft(request, given);
  const errors: RequestError[] = [];

  const each = async (
    types: readonly BundleType[],
    inside: string,
    work: (bundle: Bundle, index: number) => Promise<void>,
  ): Promise<void> => {
    const ofTypes = [...bundles.entries()].filter(([, { type }]) => types.includes(type));
    await oneByOne(ofTypes, ([index, bundle]) =>
      work(bundle, index).catch((error: unknown) => {
        if (!(error instanceof RequestError)) throw error;
        errors.push(moved(error, index, inside));
      }),
    );
  };

  for (const kind of kinds)
    await each(kind.types, kind.inside, (bundle, index) => planDocument(draft, kind, bundle, index));
  await each(['automation'], '', (bundle, index) => planAutomation(draft, bundle, index));
  await each(keptTypes, '', async (bundle, index) => {
    draft.sealed[index] = sealKept(bundle, draft.installedAs(bundle, index), draft.tools.seal);
  });
  const { parts, removed, sealed } = draft;
  const installed = draft.installed.filter((one) => one !== undefined);
  return { plan: { parts, removed, installed }, sealed, errors };
};
