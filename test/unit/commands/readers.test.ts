import { openLog } from '../../support/node.ts';
import { readerContract } from '../../support/reader.contract.ts';

describe('A reader of the log', () => readerContract(openLog));
