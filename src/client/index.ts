/** The old name of the package for programs that import it by that name: `automation-platform/client`. */
export * from '@automation-platform/client';
