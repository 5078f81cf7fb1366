import { killContract } from '../../support/kills/contract.ts';

describe('What is stored in several steps:', () => killContract(3));
