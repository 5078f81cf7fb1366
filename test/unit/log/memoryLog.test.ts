import { memoryContent, openMemoryLog } from '../../support/memoryLog.ts';
import { storeContract } from '../../support/store.contract.ts';

const contents = new Map<string, ReturnType<typeof memoryContent>>();

storeContract('memory', async (folder) => {
  const content = contents.get(folder) ?? memoryContent();
  contents.set(folder, content);
  return openMemoryLog(content);
});
