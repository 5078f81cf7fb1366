import { Type } from 'typebox';
import { requestInventorySync, setInventorySource } from '../../commands/inventory-manager/inventories.ts';
import { startJob } from '../../commands/operations-manager/jobs.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { inventory } from '../../domain/inventory-manager/inventories.ts';
import {
  isServer,
  type NewSource,
  newSourceSchema,
  refuseSource,
  sealedSource,
} from '../../domain/inventory-manager/inventorySources.ts';
import { type Inventory, inventories } from '../../projections/inventory-manager/inventories.ts';
import { nodesInText } from '../../southbound/inventorySources/sources.ts';
import { signed } from '../authorization/people.ts';
import type { Call, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { newId, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';
import { documentAnswer } from './answers.ts';
import { inventorySchema } from './shown.ts';

const setSource = actionRoute({
  name: 'setInventorySource',
  method: 'put',
  path: '/inventories/:id/source',
  access: ['operators'],
  large: true,
  summary: 'Give an inventory a source of its nodes',
  description: 'Nothing is read from it yet. Its text and token are sealed; the token ******** keeps the one before.',
  body: newSourceSchema,
  answer: documentAnswer(inventorySchema),
  run: async (call, service) => {
    const { body } = call;
    const about = requestOf('setInventorySource', call, service);
    const { id: idOrName } = call.params;
    const again =
      about.idempotency && (await service.retries.find({ aggregate: inventory, idOrName }, about.idempotency.key));
    const id = again ?? (await service.entry(inventories, idOrName, call.actor)).id;
    refuseSource(body, '');
    if (!isServer(body)) await nodesInText(body, '/text');
    const { doc, position, replayed } = await service.handle(setInventorySource, { ...about, id, input: body });
    const result = await signed(doc as Inventory, service, call); // the document of the command's own aggregate
    return {
      body: { status: 'Success', message: 'Successfully set the source', result, data: result },
      position,
      replayed,
    };
  },
});

type SyncCall = Call<'id', { readonly source?: NewSource }>;

/** Keeps the source of the request for the job with this id. Returns the inventory. */
const requestSync = async (id: string, call: SyncCall, service: Service) => {
  const { source } = call.body;
  const { text, id: of } = await service.entry(inventories, call.params.id, call.actor);
  const { name }: Inventory = JSON.parse(text);
  const { source: own } = await service.tools.state(inventory, of);
  if (source) {
    refuseSource(source, '/source');
    if (!isServer(source)) await nodesInText(source, '/source/text');
    const { idempotency: _, ...about } = requestOf('syncInventory', call, service);
    const sealed = sealedSource(source, own, service.tools.seal, '/source');
    await service.handle(requestInventorySync, { ...about, id, input: { inventory: of, source: sealed } });
  } else if (!own) throw new RequestError('conflict', 'The inventory has no source', { path: '/source' });
  return { of, name };
};

const sync = actionRoute({
  name: 'syncInventory',
  method: 'post',
  starts: true,
  path: '/inventories/:id/sync',
  access: ['operators'],
  large: true,
  summary: 'Give an inventory the nodes of a source',
  description:
    'That of the request, else its own. A job reads it and stores the differences; a dry run stores none. A source that has no ' +
    'nodes, breaks off or would remove too many changes nothing.',
  body: Type.Object(
    {
      source: Type.Optional(newSourceSchema),
      dryRun: Type.Optional(Type.Boolean({ description: 'Nothing changes: the job names the differences' })),
    },
    { additionalProperties: false },
  ),
  answer: Type.Object({ status: Type.Literal('Success'), message: Type.String(), jobId: Type.String() }),
  run: async (call, service) => {
    const { dryRun = false } = call.body;
    const about = requestOf('syncInventory', call, service);
    const id = newId(about.idempotency?.key);
    const again = about.idempotency && (await service.retries.answered(startJob.aggregate, id, about.idempotency.key));
    // A job that was started before is answered, though the inventory may be gone.
    const { of, name } = again ? { of: call.params.id, name: '' } : await requestSync(id, call, service);
    const { position, replayed } = await service.handle(startJob, {
      ...about,
      id,
      input: {
        workflow: `Sync of ${name}`.slice(0, 256),
        automation: null,
        component: { type: 'inventory-sync', name: of },
        type: 'inventory-sync',
        groups: [],
        variables: { dryRun },
        inventories: [of],
      },
    });
    return { body: { status: 'Success', message: 'The source is being read', jobId: id }, position, replayed };
  },
});

/** Sources of inventories (docs/inventories.md). */
export const inventorySourceRoutes: readonly Route[] = [setSource, sync];
