// The theme of VitePress with the fonts of the reader's system: no page loads one.
export { default } from 'vitepress/theme-without-fonts';
