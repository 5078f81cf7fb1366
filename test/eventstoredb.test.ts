import { openEventStoreDb } from '../src/store/eventstoredb.ts';
import { memoryEventStore } from './memoryEventStore.ts';
import { scriptedEventStore } from './scriptedEventStore.ts';
import { storeContract } from './store.contract.ts';

const quiet = (): void => undefined;

let server: Awaited<ReturnType<typeof scriptedEventStore>>;
before(async () => { server = await scriptedEventStore(memoryEventStore().handlers); });
after(() => server.stop());

storeContract('EventStoreDB adapter over gRPC to arrays', () => openEventStoreDb({ url: server.url, log: quiet }));
