import { Type } from 'typebox';
import { requestInventorySync, setInventorySource } from '../../commands/inventory-manager/inventories.ts';
import { startJob } from '../../commands/operations-manager/jobs.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { inventory } from '../../domain/inventory-manager/inventories.ts';
import {
  isServer,
  newSourceSchema,
  refuseSource,
  sealedSource,
} from '../../domain/inventory-manager/inventorySources.ts';
import { type Inventory, inventories } from '../../projections/inventory-manager/inventories.ts';
import { nodesInText } from '../../southbound/inventorySources/sources.ts';
import { signed } from '../authorization/people.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { newId, requestOf } from '../engine/serve.ts';
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
    refuseSource(body, '');
    if (!isServer(body)) await nodesInText(body, '/text');
    const { id: idOrName } = call.params;
    const again =
      about.idempotency && (await service.retries.find({ aggregate: inventory, idOrName }, about.idempotency.key));
    const id = again ?? (await service.entry(inventories, idOrName, call.actor)).id;
    const { doc, position, replayed } = await service.handle(setInventorySource, { ...about, id, input: body });
    const result = await signed(doc as Inventory, service, call); // the document of the command's own aggregate
    return {
      body: { status: 'Success', message: 'Successfully set the source', result, data: result },
      position,
      replayed,
    };
  },
});

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
    const { source, dryRun = false } = call.body;
    const about = requestOf('syncInventory', call, service);
    const entry = await service.entry(inventories, call.params.id, call.actor);
    const { name }: Inventory = JSON.parse(entry.text);
    const { source: own } = await service.tools.state(inventory, entry.id);
    if (source) {
      refuseSource(source, '/source');
      if (!isServer(source)) await nodesInText(source, '/source/text');
    } else if (!own) throw new RequestError('conflict', 'The inventory has no source', { path: '/source' });
    const id = newId(about.idempotency?.key);
    if (source) {
      const { idempotency: _, ...same } = about;
      const sealed = sealedSource(source, own, service.tools.seal, '/source');
      await service.handle(requestInventorySync, { ...same, id, input: { inventory: entry.id, source: sealed } });
    }
    const { position, replayed } = await service.handle(startJob, {
      ...about,
      id,
      input: {
        workflow: `Sync of ${name}`.slice(0, 256),
        automation: null,
        component: { type: 'inventory-sync', name: entry.id },
        type: 'inventory-sync',
        groups: [],
        variables: { dryRun },
        inventories: [entry.id],
      },
    });
    return { body: { status: 'Success', message: 'The source is being read', jobId: id }, position, replayed };
  },
});

/** Sources of inventories (docs/inventories.md). */
export const inventorySourceRoutes: readonly Route[] = [setSource, sync];
