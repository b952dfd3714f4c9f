//! In-memory tree of directories and files.

mod encoding;
mod error;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::mutation::Mutation;
pub use error::TreeError;

const ROOT: u32 = 0;
/// Marker for files in place of the number of children.
const FILE: u32 = u32::MAX;

/// Status of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Number of entries of a directory; `None` for a file.
    pub children: Option<u32>,
    /// Creation or rename time in milliseconds of Unix time.
    pub modified_ms: u64,
}

/// File or directory: 32 bytes plus its name.
#[derive(Debug, Default)]
struct Node {
    name: Box<[u8]>,
    modified_ms: u64,
    parent: u32,
    /// Number of children; [`FILE`] for a file.
    children: u32,
}

impl Node {
    fn status(&self) -> Status {
        Status {
            children: (self.children != FILE).then_some(self.children),
            modified_ms: self.modified_ms,
        }
    }
}

/// Tree of directories and files, indexed by parent and name.
///
/// A file takes about 80 bytes: node, name and index entry.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Deleted nodes.
    free: Vec<u32>,
    by_name: HashTable<u32>,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            free: Vec::new(),
            by_name: HashTable::new(),
        }
    }
}

impl Tree {
    /// Number of files and directories without the root.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether the tree has only the root.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Return the status of `path`.
    ///
    /// # Errors
    ///
    /// The path does not exist or is invalid.
    pub fn status(&self, path: &str) -> Result<Status, TreeError> {
        Ok(self.nodes[self.find(path)? as usize].status())
    }

    /// Apply a mutation, or reject it without a change.
    ///
    /// # Errors
    ///
    /// The reason for the rejection.
    pub fn apply(&mut self, mutation: &Mutation) -> Result<(), TreeError> {
        match *mutation {
            Mutation::Mkdir { path, at_ms } => self.add(path, 0, at_ms),
            Mutation::Create { path, at_ms } => self.add(path, FILE, at_ms),
            Mutation::Rename { path, name, at_ms } => self.rename(path, name, at_ms),
            Mutation::Delete { path } => self.delete(path),
        }
    }

    /// Iterate over all files and directories with their paths, in no particular order.
    pub fn each(&self) -> impl Iterator<Item = (String, Status)> {
        self.by_name
            .iter()
            .map(|&index| (self.path(index), self.nodes[index as usize].status()))
    }

    /// Digest that depends only on the files and directories, not on their history.
    pub fn digest(&self) -> u64 {
        self.each().fold(0, |digest, (path, status)| {
            let kind = u64::from(status.children.is_some());
            let own = xxh3_64_with_seed(path.as_bytes(), status.modified_ms << 1 | kind);
            digest.wrapping_add(own)
        })
    }

    fn add(&mut self, path: &str, children: u32, modified_ms: u64) -> Result<(), TreeError> {
        let (parent, name) = self.parent(path)?;
        let index = match self.free.last() {
            Some(&index) => index,
            None => u32::try_from(self.nodes.len()).map_err(|_| TreeError::Full)?,
        };
        let nodes = &self.nodes;
        let found = self.by_name.entry(
            hash(parent, name),
            |&index| is(nodes, index, parent, name),
            |&index| rehash(nodes, index),
        );
        let Entry::Vacant(place) = found else {
            return Err(TreeError::AlreadyExists(path.into()));
        };
        place.insert(index);
        let node = Node {
            name: name.into(),
            modified_ms,
            parent,
            children,
        };
        if self.free.pop().is_some() {
            self.nodes[index as usize] = node;
        } else {
            self.nodes.push(node);
        }
        self.nodes[parent as usize].children += 1;
        Ok(())
    }

    fn rename(&mut self, path: &str, name: &str, at_ms: u64) -> Result<(), TreeError> {
        let (parent, old) = self.parent(path)?;
        let index = self
            .child(parent, old)
            .ok_or_else(|| TreeError::NotFound(path.into()))?;
        let new = name.as_bytes();
        if new.is_empty() || new.contains(&b'/') {
            return Err(TreeError::InvalidPath(name.into()));
        }
        if self.child(parent, new).is_some() {
            return Err(TreeError::AlreadyExists(name.into()));
        }
        self.remove_from_index(parent, old);
        self.nodes[index as usize].name = new.into();
        self.nodes[index as usize].modified_ms = at_ms;
        let nodes = &self.nodes;
        let place = hash(parent, new);
        self.by_name
            .insert_unique(place, index, |&index| rehash(nodes, index));
        Ok(())
    }

    fn delete(&mut self, path: &str) -> Result<(), TreeError> {
        let (parent, name) = self.parent(path)?;
        let index = self
            .child(parent, name)
            .ok_or_else(|| TreeError::NotFound(path.into()))?;
        if !matches!(self.nodes[index as usize].children, 0 | FILE) {
            return Err(TreeError::DirectoryNotEmpty(path.into()));
        }
        self.remove_from_index(parent, name);
        self.nodes[index as usize].name = Box::default();
        self.nodes[parent as usize].children -= 1;
        self.free.push(index);
        Ok(())
    }

    fn remove_from_index(&mut self, parent: u32, name: &[u8]) {
        let nodes = &self.nodes;
        let place = hash(parent, name);
        let found = self
            .by_name
            .find_entry(place, |&index| is(nodes, index, parent, name));
        found.expect("the entry exists").remove();
    }

    fn find(&self, path: &str) -> Result<u32, TreeError> {
        let names = path
            .strip_prefix('/')
            .ok_or_else(|| TreeError::InvalidPath(path.into()))?;
        if names.is_empty() {
            return Ok(ROOT);
        }
        let mut node = ROOT;
        for name in names.split('/') {
            if name.is_empty() {
                return Err(TreeError::InvalidPath(path.into()));
            }
            let child = self.child(node, name.as_bytes());
            node = child.ok_or_else(|| TreeError::NotFound(path.into()))?;
        }
        Ok(node)
    }

    /// Parent directory of `path`, and its name there.
    fn parent<'a>(&self, path: &'a str) -> Result<(u32, &'a [u8]), TreeError> {
        let split = path.rsplit_once('/').filter(|(_, name)| !name.is_empty());
        let (directory, name) = split.ok_or_else(|| TreeError::InvalidPath(path.into()))?;
        let parent = if directory.is_empty() {
            ROOT
        } else {
            self.find(directory)?
        };
        if self.nodes[parent as usize].children == FILE {
            return Err(TreeError::NotADirectory(directory.into()));
        }
        Ok((parent, name.as_bytes()))
    }

    fn child(&self, parent: u32, name: &[u8]) -> Option<u32> {
        let place = hash(parent, name);
        let is_it = |&index: &u32| is(&self.nodes, index, parent, name);
        self.by_name.find(place, is_it).copied()
    }

    fn path(&self, mut index: u32) -> String {
        let mut names = Vec::new();
        while index != ROOT {
            let node = &self.nodes[index as usize];
            names.push(String::from_utf8_lossy(&node.name));
            index = node.parent;
        }
        names
            .iter()
            .rev()
            .fold(String::new(), |path, name| path + "/" + name)
    }
}

fn is(nodes: &[Node], index: u32, parent: u32, name: &[u8]) -> bool {
    let node = &nodes[index as usize];
    node.parent == parent && *node.name == *name
}

fn hash(parent: u32, name: &[u8]) -> u64 {
    xxh3_64_with_seed(name, u64::from(parent))
}

fn rehash(nodes: &[Node], index: u32) -> u64 {
    let node = &nodes[index as usize];
    hash(node.parent, &node.name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn mkdir(path: &str) -> Mutation<'_> {
        Mutation::Mkdir { path, at_ms: 1 }
    }

    fn create(path: &str) -> Mutation<'_> {
        Mutation::Create { path, at_ms: 2 }
    }

    #[test]
    fn created_entries_can_be_found_renamed_and_deleted() {
        let mut tree = Tree::default();
        tree.apply(&mkdir("/d")).unwrap();
        tree.apply(&create("/d/f")).unwrap();
        assert_eq!(tree.status("/d").unwrap().children, Some(1));
        assert_eq!(tree.status("/d/f").unwrap().children, None);
        let to_g = Mutation::Rename {
            path: "/d/f",
            name: "g",
            at_ms: 3,
        };
        tree.apply(&to_g).unwrap();
        assert_eq!(tree.status("/d/f"), Err(TreeError::NotFound("/d/f".into())));
        assert_eq!(tree.status("/d/g").unwrap().modified_ms, 3);
        tree.apply(&Mutation::Delete { path: "/d/g" }).unwrap();
        tree.apply(&Mutation::Delete { path: "/d" }).unwrap();
        assert!(tree.is_empty());
    }

    #[test]
    fn impossible_mutations_are_rejected_without_a_change() {
        let mut tree = Tree::default();
        tree.apply(&mkdir("/d")).unwrap();
        tree.apply(&create("/d/f")).unwrap();
        let before = tree.digest();
        let refused = [
            (create("/d/f"), TreeError::AlreadyExists("/d/f".into())),
            (create("/no/f"), TreeError::NotFound("/no".into())),
            (create("/d/f/g"), TreeError::NotADirectory("/d/f".into())),
            (create("/"), TreeError::InvalidPath("/".into())),
            (
                create("relative"),
                TreeError::InvalidPath("relative".into()),
            ),
            (mkdir("/d//e"), TreeError::InvalidPath("/d/".into())),
            (
                Mutation::Delete { path: "/d" },
                TreeError::DirectoryNotEmpty("/d".into()),
            ),
            (
                Mutation::Delete { path: "/x" },
                TreeError::NotFound("/x".into()),
            ),
            (
                Mutation::Rename {
                    path: "/d/f",
                    name: "f",
                    at_ms: 0,
                },
                TreeError::AlreadyExists("f".into()),
            ),
            (
                Mutation::Rename {
                    path: "/d/f",
                    name: "a/b",
                    at_ms: 0,
                },
                TreeError::InvalidPath("a/b".into()),
            ),
        ];
        for (mutation, why) in refused {
            assert_eq!(tree.apply(&mutation), Err(why), "{mutation:?}");
            assert_eq!(tree.digest(), before);
        }
    }

    proptest! {
        #[test]
        fn the_tree_matches_a_reference_map(steps in proptest::collection::vec((0..4u8, 0..6u8, 0..6u8), 0..80)) {
            let mut tree = Tree::default();
            let mut plain: BTreeMap<String, bool> = BTreeMap::new();
            for (kind, from, to) in steps {
                let (path, name) = (format!("/{from}"), to.to_string());
                let renamed = format!("/{to}");
                match kind {
                    0 | 1 => {
                        let made = tree.apply(&if kind == 0 { mkdir(&path) } else { create(&path) });
                        prop_assert_eq!(made.is_ok(), !plain.contains_key(&path));
                        plain.entry(path).or_insert(kind == 0);
                    }
                    2 => {
                        let gone = tree.apply(&Mutation::Delete { path: &path });
                        prop_assert_eq!(gone.is_ok(), plain.remove(&path).is_some());
                    }
                    _ => {
                        let rename = Mutation::Rename { path: &path, name: &name, at_ms: 9 };
                        let can = plain.contains_key(&path) && !plain.contains_key(&renamed);
                        prop_assert_eq!(tree.apply(&rename).is_ok(), can);
                        if can {
                            let kind = plain.remove(&path).unwrap();
                            plain.insert(renamed, kind);
                        }
                    }
                }
            }
            let held: BTreeMap<_, _> = tree.each().map(|(path, s)| (path, s.children.is_some())).collect();
            prop_assert_eq!(held, plain);
            let mut image = Vec::new();
            tree.encode(&mut image);
            let again = Tree::decode(&image).unwrap();
            prop_assert_eq!(again.digest(), tree.digest());
            prop_assert_eq!(again.free.len(), tree.free.len());
        }
    }
}
