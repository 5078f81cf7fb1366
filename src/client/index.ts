/** The old name of the package for programs of others: `automation-platform/client`. */
export * from '@automation-platform/client';
